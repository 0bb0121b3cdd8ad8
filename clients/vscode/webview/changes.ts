/** What a diff changed, at a glance: how many lines, and the lines themselves. Pure. */
export interface Change {
  added: number;
  removed: number;
  /** Lines with their sign, at most as many as asked for. */
  lines: { sign: "+" | "-" | " "; text: string }[];
  more: number;
}

/** The lines between what both sides begin and end with alike. */
export function change(before: string | undefined, after: string, most: number): Change {
  const old = before === undefined || before === "" ? [] : before.split("\n");
  const now = after === "" ? [] : after.split("\n");
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail))
    tail++;
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const lines = [
    ...removed.map((text) => ({ sign: "-" as const, text })),
    ...added.map((text) => ({ sign: "+" as const, text })),
  ];
  return {
    added: added.length,
    removed: removed.length,
    lines: lines.slice(0, most),
    more: Math.max(0, lines.length - most),
  };
}
