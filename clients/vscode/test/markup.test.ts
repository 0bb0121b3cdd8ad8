// Blocks cover a text without a gap, however it is cut, and each alone gives what the whole gives.
import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks } from "../webview/markup.ts";

const TEXT = [
  "\n# Title\n",
  "Words with `code`, a [link][far] and www.example.org.\n",
  "- one\n\n  still one\n- two\n",
  "```python\nprint(1)\n\n\nprint(2)\n```\n",
  "| a | b |\n| - | - |\n| 1 | 2 |\n",
  "> said\nby someone\n",
  "[far]: https://example.org\n",
  "The end.",
].join("\n");

const whole = (text: string): string =>
  blocks(text)
    .map((block) => block.html(true))
    .join("");

function pieces(text: string): string[] {
  const ends = blocks(text).map(({ end }) => end);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

test("blocks begin where Markdown has a new one", () => {
  assert.deepEqual(
    pieces(TEXT).map((piece) => piece.trim().split("\n")[0]),
    [
      "# Title",
      "Words with `code`, a [link][far] and www.example.org.",
      "- one",
      "```python",
      "| a | b |",
      "> said",
      "The end.",
    ],
  );
});

for (const [name, text] of Object.entries({
  "Unix lines": TEXT,
  "Windows lines": TEXT.replaceAll("\n", "\r\n"),
  "old lines": TEXT.replaceAll("\n", "\r"),
  "turned text": TEXT.replace("Words", "\u202eWords\u2066"),
  nothing: "",
  "empty lines": "\n\n \n",
})) {
  test(`${name}: the blocks cover the text`, () => {
    assert.equal(pieces(text).join(""), text);
    assert.doesNotMatch(whole(text), /[\u202e\u2066]/);
  });
}

test("a text that grows gives in the end what it gives at once", () => {
  for (const size of [1, 7, 50, 200]) {
    let settled = 0;
    let html = "";
    for (let shown = size; shown < TEXT.length + size; shown += size) {
      const rest = TEXT.slice(settled, shown);
      const complete = blocks(rest).slice(0, -1);
      html += complete.map((block) => block.html(true)).join("");
      settled += complete.at(-1)?.end ?? 0;
    }
    html += whole(TEXT.slice(settled));
    const linked = (text: string): string =>
      text.replace(/<a href="[^"]*">link<\/a>|\[link\]\[far\]/, "link");
    assert.equal(linked(html), linked(whole(TEXT)), `in pieces of ${size}`);
  }
});

test("code is highlighted once it is final", () => {
  const [code] = blocks("```python\nreturn 1\n```");
  assert.match(code?.html(true) ?? "", /hljs-keyword/);
  assert.doesNotMatch(code?.html(false) ?? "", /hljs/);
});
