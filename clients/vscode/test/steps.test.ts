// Steps: one each a frame, no longer than a few milliseconds in all, nobody left behind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Steps, type Work } from "../webview/steps.ts";

class Bench {
  readonly frames: (() => void)[] = [];
  readonly done: string[] = [];
  clock = 0;
  readonly steps = new Steps(
    (run) => this.frames.push(run),
    () => this.clock,
  );

  /** Work of `count` steps, each of which takes so many milliseconds. */
  work(name: string, count: number, milliseconds: number): Work {
    let left = count;
    return () => {
      this.done.push(name);
      this.clock += milliseconds;
      return --left > 0;
    };
  }

  /** What is done in the next frame. */
  frame(): string {
    this.done.length = 0;
    assert.equal(this.frames.length, 1, "a frame is asked for once");
    this.frames.shift()?.();
    return this.done.join("");
  }
}

test("each does one step a frame, until it is done", () => {
  const bench = new Bench();
  bench.steps.add(bench.work("a", 3, 1));
  bench.steps.add(bench.work("b", 1, 1));
  assert.deepEqual([bench.frame(), bench.frame(), bench.frame()], ["ab", "a", "a"]);
  assert.equal(bench.frames.length, 0);
});

test("a frame ends when its time is over; who did not come comes first in the next", () => {
  const bench = new Bench();
  for (const name of ["a", "b", "c"]) bench.steps.add(bench.work(name, 2, 4));
  assert.deepEqual([bench.frame(), bench.frame(), bench.frame()], ["ab", "ca", "bc"]);
  assert.equal(bench.frames.length, 0);
});

test("what was taken away is not gone on with", () => {
  const bench = new Bench();
  const work = bench.work("a", 9, 1);
  bench.steps.add(work);
  bench.frame();
  assert.ok(bench.steps.has(work));
  bench.steps.remove(work);
  assert.equal(bench.frame(), "");
  assert.equal(bench.frames.length, 0);
});

test("one that fails does not stop the others", () => {
  const bench = new Bench();
  bench.steps.add(() => {
    throw new Error("no");
  });
  bench.steps.add(bench.work("b", 1, 1));
  assert.throws(() => bench.frame(), /no/);
  assert.equal(bench.frame(), "b");
});
