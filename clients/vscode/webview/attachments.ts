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
    const { data, mimeType = "" } = one;
    const picture =
      data !== undefined && mimeType.startsWith("image/")
        ? h("img", { src: `data:${mimeType};base64,${data}`, alt: "" })
        : icon("file");
    const close = iconButton("close", t("Remove {0}", name), remove);
    return h("span.chip", { title: data === undefined ? one.uri : name }, picture, name, close);
  }
}

/** What is dropped on `box` or pasted into it: files by their place where they have one, else with their content. */
export function takeIn(box: HTMLElement, attachments: Attachments, failed: (error: unknown) => void): void {
  const contents = (files: File[]): void => {
    Promise.all(files.map(withContent)).then((all) => attachments.add(all), failed);
  };
  box.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    // Office programs put a picture of the text beside the text.
    if (files.length === 0 || event.clipboardData?.getData("text/plain")) return;
    event.preventDefault();
    contents(files);
  });
  box.addEventListener("dragover", (event) => {
    event.preventDefault();
    box.classList.add("dropping");
  });
  box.addEventListener("dragleave", () => box.classList.remove("dropping"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("dropping");
    const ours = uris(event.dataTransfer, "application/vnd.code.uri-list");
    const files = [...(event.dataTransfer?.files ?? [])];
    // A picture out of a page has its address with it, but the picture is what was meant.
    if (ours.length === 0 && files.length > 0) contents(files);
    else
      post({
        type: "dropped",
        uris: ours.length > 0 ? ours : uris(event.dataTransfer, "text/uri-list"),
      });
  });
}

function uris(data: DataTransfer | null, type: string): string[] {
  const lines = (data?.getData(type) ?? "").split(/\r?\n/);
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

/** A file that has no place here as an attachment with its content; the bridge keeps it as a file of its own. */
async function withContent(file: File): Promise<Attachment> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
  const data = url.slice(url.indexOf(",") + 1);
  const mimeType = file.type || "application/octet-stream";
  return { uri: `pasted:${crypto.randomUUID()}`, mimeType, data, title: file.name };
}
