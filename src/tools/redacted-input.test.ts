import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openShellRoom } from "../../test/shell-room.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { callTool, textOf } from "../../test/tools/call-tool.ts";
import { redactionMarker } from "../core/base/text.ts";
import { textOf as contentText } from "../core/message/message.ts";
import { createRedaction } from "../permission/secrets/create-redaction.ts";
import { createEditTool } from "./edit-tool.ts";
import { FileState } from "./files/file-state.ts";
import { createReadTool } from "./read-tool.ts";
import { createWriteTool } from "./write-tool.ts";

const MARK = redactionMarker("MY_KEY");
const MESSAGE = "which replaces a secret that was not shown; nothing was changed.";

test("write and edit refuse a text with a mark, so that it never takes the place of the secret", async () => {
  const cwd = tempFolder();
  const path = join(cwd, ".env");
  writeFileSync(path, "MY_KEY=real\nMODE=a\n");
  const state = new FileState();
  const [read, write, edit] = [createReadTool, createWriteTool, createEditTool].map((make) =>
    make({ state }),
  );
  if (read === undefined || write === undefined || edit === undefined) throw new Error("three tools");
  await callTool(read, { path: ".env" }, { cwd });
  const changes = [
    callTool(write, { path: ".env", content: `MY_KEY=${MARK}\nMODE=b\n` }, { cwd }),
    callTool(edit, { path: ".env", edits: [{ old_string: "real", new_string: MARK }] }, { cwd }),
    callTool(edit, { path: ".env", edits: [{ old_string: `MY_KEY=${MARK}`, new_string: "x" }] }, { cwd }),
  ];
  for (const result of await Promise.all(changes)) expect(textOf(result)).toContain(`${MARK}, ${MESSAGE}`);
  const around = await callTool(
    edit,
    { path: ".env", edits: [{ old_string: "MODE=a", new_string: "MODE=b" }] },
    { cwd },
  );
  expect({ failed: around.isError === true, text: readFileSync(path, "utf8") }).toEqual({
    failed: false,
    text: "MY_KEY=real\nMODE=b\n",
  });
});

test("bash refuses a command with a mark", async () => {
  const room = openShellRoom();
  const result = await room.bash({ command: `echo "KEY=${MARK}" > .env` });
  expect(contentText(result.content)).toContain(`command contains ${MARK}, ${MESSAGE}`);
});

test("a secret in the middle of an output that is cut shows in no part of it and not in the file of all of it", async () => {
  const secret = "Zq8-abcdefgh_IJKLMNOP.qrstuvwx+012345";
  const redact = createRedaction({ secrets: [{ name: "MY_KEY", value: secret }], shapes: false });
  const outputDir = tempFolder();
  const room = openShellRoom({ redact, outputDir, env: { MY_KEY: secret } });
  for (const width of [15_990, 15_983, 15_999]) {
    const command = `head -c ${width} /dev/zero | tr '\\0' a; printf %s "$MY_KEY"; head -c 60000 /dev/zero | tr '\\0' b; echo`;
    const { content, metadata } = await room.bash({ command });
    const kept = readFileSync(String(metadata?.["outputPath"]), "utf8");
    for (let at = 0; at + 8 <= secret.length; at++) {
      expect(contentText(content)).not.toContain(secret.slice(at, at + 8));
      expect(kept).not.toContain(secret.slice(at, at + 8));
    }
    expect(kept).toContain("«redacted:MY_KEY»");
  }
});

test("a command that names a variable it did not get is told so", async () => {
  const room = openShellRoom({ withheld: ["DEPLOY_TOKEN", "OTHER_TOKEN"] });
  const notes: string[] = [];
  for (const command of [
    'echo "$DEPLOY_TOKEN"',
    "echo OTHER_TOKEN is missing; exit 1",
    "echo OTHER_TOKEN",
    "echo $X",
  ])
    notes.push(
      contentText((await room.bash({ command })).content).match(/\[.* passed to commands\./)?.[0] ?? "",
    );
  expect(notes).toEqual([
    "[DEPLOY_TOKEN is not passed to commands.",
    "[OTHER_TOKEN is not passed to commands.",
    "",
    "",
  ]);
});
