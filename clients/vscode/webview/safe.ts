/** What agents write cannot pretend to be something else: characters that turn the direction of text are shown. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text with each invisible turn of direction written out. */
export function visible(text: string): string {
  return text.replace(
    TURNING,
    (character) => `‹U+${character.codePointAt(0)?.toString(16).toUpperCase() ?? ""}›`,
  );
}
