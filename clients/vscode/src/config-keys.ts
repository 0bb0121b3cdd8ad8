/**
 * Which keys and values may stand at a place in the YAML configuration, by its JSON Schema. Looks at indentation alone,
 * as one does who types; knows nothing of VS Code.
 */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  type?: string | string[];
}

export interface Suggestion {
  insert: string;
  detail?: string;
  documentation?: string;
  value: boolean;
}

/** What completes at the end of the last of `lines`. */
export function keysAt(schema: Schema, lines: string[]): Suggestion[] {
  const last = lines.at(-1) ?? "";
  const typed = /^(\s*(?:- )?)([\w-]*)(:\s*)?(.*)$/.exec(last);
  if (!typed) return [];
  const [, lead = "", key = "", colon] = typed;
  const path = pathTo(lines, lead.length);
  const here = follow(schema, path);
  if (!here) return [];
  if (colon !== undefined) {
    const values = resolve(schema, here.properties?.[key])?.enum ?? [];
    return values.map((value) => ({ insert: String(value), value: true }));
  }
  return Object.entries(here.properties ?? {}).map(([name, property]) => {
    const known = { ...resolve(schema, property), ...property };
    return { insert: `${name}: `, detail: known.title, documentation: known.description, value: false };
  });
}

/** The keys above, each less indented than the one below it. */
function pathTo(lines: string[], indent: number): string[] {
  const path: string[] = [];
  let least = indent;
  for (const line of lines.slice(0, -1).toReversed()) {
    const found = /^(\s*(?:- )?)([\w-]+):/.exec(line);
    if (found?.[1] === undefined || found[2] === undefined || found[1].length >= least) continue;
    path.unshift(found[2]);
    least = found[1].length;
    if (least === 0) break;
  }
  return path;
}

function follow(root: Schema, path: string[]): Schema | undefined {
  let here: Schema | undefined = root;
  for (const key of path) {
    const next: Schema | undefined = resolve(root, here?.properties?.[key]);
    here = next?.items ? resolve(root, next.items) : next;
  }
  return here;
}

function resolve(root: Schema, schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split("/").at(-1);
  return name === undefined ? schema : root.$defs?.[name];
}
