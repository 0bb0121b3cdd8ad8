/** The other side: the extension. Requests with answers, messages without, and what is kept over a reload. */
import type { Params, Result } from "../src/protocol.gen.ts";
import type { FromView, ToView, ViewMethod } from "../src/chat/messages.ts";

interface Api {
  postMessage(message: FromView): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();
const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
let count = 0;

export function post(message: FromView): void {
  api.postMessage(message);
}

/** Ask the bridge; rejects with what it says. */
export function request<M extends ViewMethod>(method: M, params: Params<M>): Promise<Result<M>> {
  const id = ++count;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    post({ type: "request", id, method, params });
  });
}

/** Hear what the extension says; answers to requests go to whoever asked. */
export function listen(hear: (message: ToView) => void): void {
  window.addEventListener("message", ({ data }: MessageEvent<ToView>) => {
    if (data.type === "answer") settle(data.id)?.resolve(data.result as never);
    else if (data.type === "refusal") settle(data.id)?.reject(new Error(data.message));
    else hear(data);
  });
}

function settle(
  id: number,
): { resolve: (result: never) => void; reject: (error: Error) => void } | undefined {
  const found = waiting.get(id);
  waiting.delete(id);
  return found;
}

/** What survives a reload of the page; what is written last may not. */
export const memory = {
  get: (): unknown => api.getState(),
  set: (state: unknown): void => api.setState(state),
};
