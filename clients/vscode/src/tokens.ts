/**
 * The tokens of messages: what may have been taken or not, because its answer was lost, keeps its token when it is sent
 * again, so that the bridge takes it for the same message. Pure.
 */
import type { Attachment } from "./protocol.gen.ts";

export interface Sending {
  channelId: string;
  text: string;
  attachments: Attachment[];
}

export class Tokens {
  readonly #doubtful = new Map<string, { content: string; token: string }>();

  /** The token to send it with: the one it had, if it is what is in doubt in its channel. */
  of(sending: Sending): string {
    const doubtful = this.#doubtful.get(sending.channelId);
    return doubtful?.content === contentOf(sending) ? doubtful.token : crypto.randomUUID();
  }

  /** It is not known whether it was taken. */
  doubt(sending: Sending, token: string): void {
    this.#doubtful.set(sending.channelId, { content: contentOf(sending), token });
  }

  /** It was taken. */
  taken(token: string): void {
    for (const [channelId, doubtful] of this.#doubtful) {
      if (doubtful.token === token) this.#doubtful.delete(channelId);
    }
  }
}

function contentOf({ text, attachments }: Sending): string {
  return JSON.stringify([text, ...attachments.map(({ uri, range }) => [uri, range])]);
}
