/** How long the tasks of a page's main thread are, from Chromium's own trace. What the tests ask of the page is left out. */
import type { BrowserContext, CDPSession, Page } from "playwright-core";

/** An event of the trace format; times in microseconds, `tdur` is processor time. */
interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  args: { name?: string; chrome_mojo_event_info?: { mojo_interface_tag?: string } };
}

/** Milliseconds on the clock, and of the processor. */
export interface Task {
  wall: number;
  cpu: number;
}

export class Trace {
  readonly #session: CDPSession;
  readonly #events: TraceEvent[] = [];

  static async start(browser: BrowserContext, page: Page): Promise<Trace> {
    const trace = new Trace(await browser.newCDPSession(page));
    // Else what was done before is cleared away meanwhile.
    await trace.#session.send("HeapProfiler.collectGarbage");
    await trace.#session.send("Tracing.start", {
      transferMode: "ReportEvents",
      traceConfig: { includedCategories: ["toplevel", "blink.user_timing"] },
    });
    return trace;
  }

  private constructor(session: CDPSession) {
    this.#session = session;
    session.on("Tracing.dataCollected", ({ value }) => {
      for (const event of value) this.#events.push(event as unknown as TraceEvent);
    });
  }

  /** The tasks of the thread that set both marks (`performance.mark`), from the one until the other. */
  async end(from: string, until: string): Promise<Task[]> {
    const complete = new Promise((resolve) => this.#session.once("Tracing.tracingComplete", resolve));
    await this.#session.send("Tracing.end");
    await complete;
    return tasksBetween(this.#events, from, until);
  }
}

function tasksBetween(events: TraceEvent[], from: string, until: string): Task[] {
  const begin = events.find(({ name }) => name === from);
  const end = events.findLast(({ name }) => name === until);
  if (!begin || !end) throw new Error(`The trace has no ${begin ? until : from}.`);
  const spans = events
    .filter(({ ph, pid, tid }) => ph === "X" && pid === begin.pid && tid === begin.tid)
    .filter(({ ts, dur = 0 }) => ts + dur > begin.ts && ts < end.ts)
    .sort((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0));
  const tasks: Task[] = [];
  let over = 0;
  for (const span of spans) {
    const { ts, dur = 0, tdur = 0, args } = span;
    if (ts >= over) {
      over = ts + dur;
      tasks.push({ wall: dur / 1000, cpu: tdur / 1000 });
    } else if (args.chrome_mojo_event_info?.mojo_interface_tag === "blink.mojom.DevToolsSession") {
      tasks.splice(-1, 1, { wall: 0, cpu: 0 });
    }
  }
  return tasks;
}
