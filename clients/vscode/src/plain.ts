/** What agents and the bridge hand over, as text for people. Pure; the chat view uses it, too. */

/** Whatever a tool was given or gave. */
export function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The sentence of an error. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The command line in a tool's input, as agents spell it. */
export function commandOf(input: unknown): string | undefined {
  const command = (input as { command?: unknown } | null | undefined)?.command;
  if (typeof command === "string") return command;
  return Array.isArray(command) ? command.map(String).join(" ") : undefined;
}
