import { expect, test } from "vitest";
import { clientPorts } from "./client-ports.ts";

const OFFERED = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
const { signal } = new AbortController();

const refused = (): Promise<never> => Promise.reject(new Error("not today"));

test.each([
  ["a number", async () => ({ content: 42 })],
  ["no text", async () => ({})],
  ["nothing", async () => null],
  ["an error", refused],
])("an editor that answers %s for a file does not know it", async (_what, request) => {
  const { files } = clientPorts({ request } as never, "s", OFFERED);
  expect(await files?.readText?.("/a.txt", { signal })).toBeUndefined();
});

const TERMINAL = {
  id: "t",
  waitForExit: async () => ({ exitCode: 0 }) as object,
  currentOutput: async () => ({ output: "hi", truncated: false }) as object,
  kill: async () => undefined,
  release: async (): Promise<unknown> => undefined,
};
const ENDED = { output: "hi", exitCode: 0, signal: null, isTruncated: false };

test.each([
  ["says what the protocol wants", {}, {}],
  ["does not take the terminal back", { release: refused }, {}],
  ["says no code", { waitForExit: async () => ({}) }, { exitCode: null }],
  [
    "says a code that is none",
    { waitForExit: async () => ({ exitCode: "x", signal: 9 }) },
    { exitCode: null },
  ],
  ["says no output", { currentOutput: async () => ({ output: 5 }) }, { output: "" }],
])("a command has ended in an editor that %s", async (_what, said, ended) => {
  const client = { createTerminal: async () => ({ ...TERMINAL, ...said }) };
  const { shell } = clientPorts(client as never, "s", OFFERED);
  const command = { command: "echo hi", cwd: "/", env: {}, unset: [], maxOutputBytes: 100, signal };
  expect(await shell?.run(command)).toEqual({ ...ENDED, ...ended });
});
