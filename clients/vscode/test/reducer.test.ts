// Replays schema/fixtures: what the Python reducer says, this one says.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Event } from "../src/protocol.gen.ts";
import { compare, reduce, type Snapshot } from "../src/reducer.ts";

const FOLDER = join(import.meta.dirname, "../../../schema/fixtures");
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));

type Line = { snapshot: Snapshot } | { event: Event };

function linesOf(name: string): Line[] {
  const text = readFileSync(join(FOLDER, name), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

test("there are fixtures", () => {
  assert.ok(NAMES.length > 5);
});

for (const name of NAMES) {
  test(`${name}: snapshot + later events = later snapshot`, () => {
    let snapshot: Snapshot | undefined;
    for (const line of linesOf(name)) {
      if ("snapshot" in line) {
        if (snapshot !== undefined) assert.deepEqual(snapshot, line.snapshot);
        snapshot = line.snapshot;
        assert.deepEqual(snapshot.messages, snapshot.messages.toSorted(compare));
      } else {
        assert.ok(snapshot);
        const before = JSON.stringify(snapshot);
        const after = reduce(snapshot, line.event);
        assert.equal(JSON.stringify(snapshot), before, "the reducer changed what it was given");
        snapshot = after;
      }
    }
  });
}

test("what an event does not concern keeps its identity", () => {
  const lines = linesOf("streaming-answer.jsonl");
  const first = lines[0];
  assert.ok(first && "snapshot" in first);
  const delta = lines.find((line) => "event" in line && line.event.method === "sidekicks/message/delta");
  const started = lines.find((line) => "event" in line && line.event.method === "sidekicks/message/updated");
  assert.ok(delta && "event" in delta && started && "event" in started);
  const before = reduce(first.snapshot, started.event);
  const after = reduce(before, delta.event);
  const untouched = before.messages.filter((message) => after.messages.includes(message));
  assert.ok(untouched.length >= before.messages.length - 1);
});
