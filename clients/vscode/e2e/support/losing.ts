/**
 * A bridge that can lose an answer: `node losing.ts FILE COMMAND…` runs the command and passes everything on. While FILE
 * is there, it takes the next message that is sent, lets nothing more through to the client, and dies with the answer.
 */
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";

const [file = "", program = "", ...words] = process.argv.slice(2);
const bridge = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
let lost: unknown;

interface Frame {
  id?: unknown;
  method?: string;
}

/** Every message of a stream, and its bytes. */
function frames(hear: (frame: Frame, bytes: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n") + 4;
      const length = Number(/Content-Length: (\d+)/i.exec(rest.toString("latin1", 0, end))?.[1]);
      if (end < 4 || rest.length < end + length) return;
      const bytes = rest.subarray(0, end + length);
      rest = rest.subarray(end + length);
      hear(JSON.parse(bytes.toString("utf8", end)) as Frame, bytes);
    }
  };
}

if (words.includes("serve")) {
  process.stdin.on(
    "data",
    frames(({ id, method }, bytes) => {
      if (method === "sidekicks/message/send" && existsSync(file)) lost = id;
      bridge.stdin.write(bytes);
    }),
  );
  bridge.stdout.on(
    "data",
    frames(({ id, method }, bytes) => {
      if (lost === undefined) process.stdout.write(bytes);
      else if (id === lost && method === undefined) {
        rmSync(file);
        bridge.kill();
        process.exit(1);
      }
    }),
  );
  process.stdin.on("end", () => bridge.stdin.end());
} else bridge.stdout.pipe(process.stdout);
bridge.on("exit", (code) => process.exit(code ?? 1));
