/** What goes with the next message, as chips: files that were named, dropped on the composer or pasted into it. */
import type { Attachment } from "../src/protocol.gen.ts";
import { h, icon, iconButton } from "./dom.ts";
import { post } from "./host.ts";
import { t } from "./l10n.ts";
import { visible } from "./safe.ts";

export class Attachments {
  readonly element = h("div.chips");
  readonly #changed: () => void;
  #list: Attachment[] = [];

  /** `changed`: after every change. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get empty(): boolean {
    return this.#list.length === 0;
  }

  add(attachments: Attachment[]): void {
    const key = ({ uri, range }: Attachment): string => `${uri} ${JSON.stringify(range)}`;
    const known = new Set(this.#list.map(key));
    this.#set([...this.#list, ...attachments.filter((one) => !known.has(key(one)))]);
  }

  /** All of them; none is left. */
  take(): Attachment[] {
    const taken = this.#list;
    this.#set([]);
    return taken;
  }

  #set(list: Attachment[]): void {
    this.#list = list;
    this.element.replaceChildren(...list.map((one) => this.#chip(one)));
    this.#changed();
  }

  #chip(one: Attachment): HTMLElement {
    const name = visible(one.title ?? one.uri);
    const remove = (): void => this.#set(this.#list.filter((other) => other !== one));
    const picture =
      one.data === undefined
        ? icon("file")
        : h("img", { src: `data:${one.mimeType ?? ""};base64,${one.data}`, alt: "" });
    const close = iconButton("close", t("Remove {0}", name), remove);
    return h("span.chip", { title: one.data === undefined ? one.uri : name }, picture, name, close);
  }
}

/** Files that are dropped on `box`, from the explorer, from editor tabs or from outside, and pictures pasted into it. */
export function takeIn(box: HTMLElement, attachments: Attachments, failed: (error: unknown) => void): void {
  const pictures = (data: DataTransfer | null): boolean => {
    const files = [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
    Promise.all(files.map(pasted)).then((all) => attachments.add(all), failed);
    return files.length > 0;
  };
  box.addEventListener("paste", (event) => {
    if (pictures(event.clipboardData)) event.preventDefault();
  });
  box.addEventListener("dragover", (event) => {
    event.preventDefault();
    box.classList.add("dropping");
  });
  box.addEventListener("dragleave", () => box.classList.remove("dropping"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("dropping");
    const uris = urisOf(event.dataTransfer);
    if (uris.length > 0) post({ type: "dropped", uris });
    else pictures(event.dataTransfer);
  });
}

function urisOf(data: DataTransfer | null): string[] {
  const lists = ["application/vnd.code.uri-list", "text/uri-list"].map((type) => data?.getData(type));
  const lines = (lists.find(Boolean) ?? "").split(/\r?\n/);
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

/** A picture as an attachment with its content; the bridge keeps it as a file. */
async function pasted(file: File): Promise<Attachment> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
  const data = url.slice(url.indexOf(",") + 1);
  return { uri: `pasted:${crypto.randomUUID()}`, mimeType: file.type, data, title: file.name };
}
