/**
 * Work in small steps, so that the page answers meanwhile: each piece of work does one step a frame, the first comers
 * first, until a few milliseconds are over; the others go on in the next frame. Pure but for the frames and the clock.
 */

/** Milliseconds of a frame for steps. Layout and painting of what they made come on top. */
const BUDGET = 6;

/** Does a step; answers whether there is more to do. */
export type Work = () => boolean;

export class Steps {
  readonly #waiting = new Set<Work>();
  readonly #frame: (run: () => void) => void;
  readonly #now: () => number;
  #asked = false;

  constructor(frame: (run: () => void) => void, now: () => number) {
    this.#frame = frame;
    this.#now = now;
  }

  /** Go on with this from the next frame on, until it is done. */
  add(work: Work): void {
    this.#waiting.add(work);
    this.#ask();
  }

  has(work: Work): boolean {
    return this.#waiting.has(work);
  }

  remove(work: Work): void {
    this.#waiting.delete(work);
  }

  #ask(): void {
    if (this.#asked || this.#waiting.size === 0) return;
    this.#asked = true;
    this.#frame(() => this.#run());
  }

  #run(): void {
    this.#asked = false;
    const end = this.#now() + BUDGET;
    try {
      for (const work of [...this.#waiting]) {
        this.#waiting.delete(work);
        if (work()) this.#waiting.add(work);
        if (this.#now() >= end) break;
      }
    } finally {
      this.#ask();
    }
  }
}
