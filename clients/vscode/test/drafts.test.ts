// Drafts: the bridge's is the one that holds, and nothing typed is lost meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Drafts, type Memory } from "../webview/drafts.ts";

class Page implements Memory {
  state: unknown;

  get(): unknown {
    return this.state;
  }

  set(state: unknown): void {
    this.state = state;
  }
}

test("what the bridge has not got outlives the page", () => {
  const page = new Page();
  const drafts = new Drafts(page);
  assert.equal(drafts.opened("c", "at the bridge"), "at the bridge");
  drafts.typed("c", "typed on");
  assert.ok(drafts.waits("c"));
  assert.equal(new Drafts(page).opened("c", "at the bridge"), "typed on");
});

test("what the bridge has is not kept here, but what was typed after it is", () => {
  const page = new Page();
  const drafts = new Drafts(page);
  drafts.opened("c", "");
  drafts.typed("c", "one");
  drafts.typed("c", "one two");
  drafts.stored("c", "one");
  assert.equal(new Drafts(page).opened("c", "one"), "one two");
  drafts.stored("c", "one two");
  assert.equal(drafts.waits("c"), false);
  assert.deepEqual(page.state, {});
});

test("a page that remembers what is long past does not hide the bridge's draft", () => {
  const page = new Page();
  const drafts = new Drafts(page);
  drafts.opened("c", "");
  drafts.typed("c", "long ago");
  const old = page.state;
  drafts.stored("c", "long ago");
  drafts.stored("c", "since then");
  page.state = old; // the window was loaded again before the page's state was written
  const again = new Drafts(page);
  assert.equal(again.opened("c", "since then"), "since then");
  assert.equal(again.waits("c"), false);
});

test("each channel has its own", () => {
  const page = new Page();
  const drafts = new Drafts(page);
  drafts.typed("a", "for a");
  drafts.typed("b", "for b");
  drafts.stored("a", "for a");
  assert.equal(drafts.opened("b", ""), "for b");
  assert.equal(drafts.waits("a"), false);
});
