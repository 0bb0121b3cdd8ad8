// A message that may have been taken or not keeps its token, and no other message gets it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokens, type Sending } from "../src/tokens.ts";

const sending = (given: Partial<Sending> = {}): Sending => ({
  channelId: "c",
  text: "hello",
  attachments: [],
  ...given,
});

test("what is in doubt keeps its token, in its channel", () => {
  const tokens = new Tokens();
  const token = tokens.of(sending());
  tokens.doubt(sending(), token);
  assert.equal(tokens.of(sending()), token);
  assert.notEqual(tokens.of(sending({ channelId: "other" })), token);
  assert.notEqual(tokens.of(sending({ text: "hello again" })), token);
});

test("the same words with something else attached are another message", () => {
  const tokens = new Tokens();
  const token = tokens.of(sending());
  tokens.doubt(sending(), token);
  assert.notEqual(tokens.of(sending({ attachments: [{ uri: "file:///a" }] })), token);
});

test("what was taken may be said once more", () => {
  const tokens = new Tokens();
  const token = tokens.of(sending());
  tokens.doubt(sending(), token);
  tokens.taken(token);
  assert.notEqual(tokens.of(sending()), token);
});
