/** The user's language: strings come from the extension, the English ones are their keys. */
let strings: Record<string, string> = {};

export function setStrings(given: Record<string, string>): void {
  strings = given;
}

/** The string in the user's language, `{0}` … filled in. */
export function t(text: string, ...values: (string | number)[]): string {
  return (strings[text] ?? text).replace(/\{(\d+)\}/g, (whole, index: string) =>
    String(values[Number(index)] ?? whole),
  );
}

/** A time of the day; of another day, with its date. */
export function time(iso: string): string {
  const then = new Date(iso);
  const today = then.toDateString() === new Date().toDateString();
  const style: Intl.DateTimeFormatOptions = today
    ? { timeStyle: "short" }
    : { dateStyle: "short", timeStyle: "short" };
  return then.toLocaleString(document.documentElement.lang || undefined, style);
}
