import { execFile } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, serverEnv } from "./command.ts";

const ROOT = join(import.meta.dirname, "../..");
const RUN = promisify(execFile);

/** The line of a document's shell blocks that begins so, without its comment. */
function lineOf(document: string, begin: string): string {
  const blocks = readFileSync(join(ROOT, document), "utf8").matchAll(/```(?:sh|bash)\n([\s\S]*?)```/g);
  const lines = [...blocks].flatMap(([, block = ""]) => block.split("\n"));
  const line = lines.find((each) => each.startsWith(begin));
  if (line === undefined) throw new Error(`${document} has no line that begins with ${begin}.`);
  return line.replace(/ +# .*$/, "");
}

/**
 * Runs lines as a person types them, with the command installed and `npx` that takes what the project has.
 */
async function typed(lines: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const programs = join(ROOT, "node_modules/.bin");
  // The programs of servers have a longer name than the last part of their package.
  const npx = `#!/bin/sh
[ "$1" = -y ] && shift
program=$(basename "$1" | sed 's/^server-/mcp-server-/'); shift
exec "${programs}/$program" "$@"
`;
  const bin = tempFolder({ npx });
  await RUN("chmod", ["+x", join(bin, "npx")]);
  symlinkSync(join(ROOT, "dist/bin.mjs"), join(bin, "nano-agent"));
  const cwd = tempFolder({ "a.txt": "hello" });
  const { stdout } = await RUN("sh", ["-ec", lines.join("\n")], {
    cwd,
    env: {
      PATH: `${bin}:${programs}:${process.env["PATH"] ?? ""}`,
      HOME: tempFolder(),
      ...env,
    },
  });
  return stdout;
}

test("an ACP client gets an answer by the words of the documents", async () => {
  const server = await modelServer([says("It fails because of the date.")]);
  const line = lineOf("docs/acp.md", "npx acpx --agent");
  expect(await typed([line], serverEnv(server))).toContain("It fails because of the date.");
});

test("an MCP client finds the agent's tools by the words of the documents", async () => {
  const line = lineOf("docs/mcp.md", "npx @modelcontextprotocol/inspector --cli nano-agent");
  const { tools } = JSON.parse(await typed([line], {})) as {
    readonly tools: readonly { readonly name: string }[];
  };
  expect(tools.map(({ name }) => name)).toEqual(["run", "resume", "sessions"]);
});

test("a server is added, listed and called by the words of the documents", async () => {
  const lines = ["nano-agent mcp add files", "nano-agent mcp list", "nano-agent mcp test files"].map(
    (begin) => lineOf("docs/mcp.md", begin),
  );
  const out = await typed(lines, {});
  expect(out).toMatch(/files[\s\S]*connected[\s\S]*\[FILE\] a\.txt/);
});
