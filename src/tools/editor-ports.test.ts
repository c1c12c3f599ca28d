import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { callTool, textOf } from "../../test/tools/call-tool.ts";
import type { CommandPlacement } from "../system/command-sandbox.ts";
import { createBashTools } from "./bash-tools.ts";
import { fileTools } from "./file-tools.ts";
import type { FilePort } from "./files/file-state.ts";
import type { CommandSandbox, PortCommand, ShellPort } from "./shell/shell-ports.ts";

/** An editor with texts in its buffers, some of them not saved; it saves what it is told to write. */
function editor(buffers: Record<string, string>): Required<FilePort> {
  return {
    readText: async (path) => buffers[path],
    writeText: async (path, text) => {
      buffers[path] = text;
      writeFileSync(path, text);
    },
  };
}

function toolsOf(cwd: string, files: FilePort) {
  const tools = new Map(fileTools({ files }).map((tool) => [tool.name, tool]));
  return async (name: string, input: object): Promise<string> => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return textOf(await callTool(tool, input, { cwd }));
  };
}

describe("files of an editor", () => {
  test("what is not saved is what is read and edited, and it is written through the editor", async () => {
    const cwd = tempFolder({ "a.txt": "saved\n" });
    const path = join(cwd, "a.txt");
    const buffers = { [path]: "typed\nmore\n" };
    const call = toolsOf(cwd, editor(buffers));
    const read = await call("read", { path: "a.txt" });
    const edited = await call("edit", {
      path: "a.txt",
      edits: [{ old_string: "typed", new_string: "edited" }],
    });
    expect([read, edited.startsWith("Edited a.txt"), buffers[path], readFileSync(path, "utf8")]).toEqual([
      "     1\ttyped\n     2\tmore",
      true,
      "edited\nmore\n",
      "edited\nmore\n",
    ]);
  });

  test("a file that was never saved can be read and changed", async () => {
    const cwd = tempFolder();
    const path = join(cwd, "new.txt");
    const buffers = { [path]: "one\n" };
    const call = toolsOf(cwd, editor(buffers));
    const read = await call("read", { path: "new.txt" });
    const written = await call("write", { path: "new.txt", content: "two\n" });
    expect([read, written.startsWith("Updated new.txt"), readFileSync(path, "utf8")]).toEqual([
      "     1\tone",
      true,
      "two\n",
    ]);
  });

  test("what the editor does not know comes from the disk; what it creates is there", async () => {
    const cwd = tempFolder({ "a.txt": "disk\n" });
    const call = toolsOf(cwd, editor({}));
    expect([
      await call("read", { path: "a.txt" }),
      await call("write", { path: "b.txt", content: "b" }),
    ]).toEqual(["     1\tdisk", "Created b.txt (1 line)."]);
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe("b");
  });

  test("a text that was not read, or was typed on since, is not overwritten", async () => {
    const cwd = tempFolder({ "a.txt": "saved\n" });
    const path = join(cwd, "a.txt");
    const buffers = { [path]: "typed\n" };
    const call = toolsOf(cwd, editor(buffers));
    const unread = await call("write", { path: "a.txt", content: "x" });
    await call("read", { path: "a.txt" });
    buffers[path] = "typed on\n";
    const typedOn = await call("write", { path: "a.txt", content: "x" });
    expect([unread, typedOn, buffers[path], readFileSync(path, "utf8")]).toEqual([
      expect.stringContaining("was not read in this session"),
      expect.stringContaining("was changed since it was read"),
      "typed on\n",
      "saved\n",
    ]);
  });

  test("with an editor that only reads, a text that is not saved is not overwritten on the disk", async () => {
    const cwd = tempFolder({ "a.txt": "saved\n" });
    const { readText } = editor({ [join(cwd, "a.txt")]: "typed\n" });
    const call = toolsOf(cwd, { readText });
    await call("read", { path: "a.txt" });
    const written = await call("write", { path: "a.txt", content: "x" });
    expect([written, readFileSync(join(cwd, "a.txt"), "utf8")]).toEqual([
      expect.stringContaining("was changed since it was read"),
      "saved\n",
    ]);
  });

  test("a port that fails is an error result, and nothing is changed", async () => {
    const cwd = tempFolder({ "a.txt": "saved\n" });
    const call = toolsOf(cwd, {
      ...editor({}),
      writeText: async () => {
        throw new Error("the editor is gone");
      },
    });
    const written = await call("write", { path: "b.txt", content: "x" });
    expect([written, existsSync(join(cwd, "b.txt"))]).toEqual(["Error: b.txt: the editor is gone", false]);
  });

  test("whatever the text, a page of a buffer is the page of the same text on the disk", async () => {
    const cwd = tempFolder();
    const text = fc
      .array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 8 })
      .map((lines) => lines.join("\n"));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (content, offset) => {
        const path = join(cwd, "a.txt");
        writeFileSync(path, content);
        const onDisk = await toolsOf(cwd, {})("read", { path, offset });
        const inBuffer = await toolsOf(cwd, editor({ [path]: content }))("read", { path, offset });
        expect(inBuffer).toBe(onDisk);
      }),
      { numRuns: 50 },
    );
  });
});

describe("the terminal of an editor", () => {
  const run = async (port: ShellPort, input: object, options: object = {}, signal?: AbortSignal) => {
    const tools = createBashTools({ env: { PATH: "/bin" }, port, ...options });
    try {
      return await callTool(tools.bash, input, { cwd: "/", ...(signal === undefined ? {} : { signal }) });
    } finally {
      await tools.dispose();
    }
  };

  test("a command runs there, with our variables, and its end is told like that of our own", async () => {
    const asked: Partial<PortCommand>[] = [];
    const port: ShellPort = {
      run: async ({ command, cwd, env, onTerminal }) => {
        asked.push({ command, cwd });
        onTerminal?.("term_1");
        return { output: `PATH is ${env["PATH"]}\n`, exitCode: 3 };
      },
    };
    const { content, isError, title, metadata } = await run(port, { command: "make" });
    expect([asked, String(content).replace(/, \d+ ms/, ""), isError, title, metadata]).toEqual([
      [{ command: "make", cwd: "/" }],
      "PATH is /bin\n[exit code 3]",
      true,
      "exit code 3",
      { exitCode: 3, signal: null, durationMs: expect.any(Number), terminal: "term_1" },
    ]);
  });

  test("a command that only looks gets no program that a repository names, nor the editor's variables of git", async () => {
    const seen: (Pick<PortCommand, "unset"> & { readonly settings: string | undefined })[] = [];
    const port: ShellPort = {
      run: async ({ env, unset }) => {
        seen.push({ unset, settings: env["GIT_CONFIG_KEY_0"] });
        return { output: "", exitCode: 0 };
      },
    };
    const env = { PATH: "/bin", GIT_EXTERNAL_DIFF: "/x", GIT_DIR: "/y" };
    for (const isLooking of [true, false])
      await run(port, { command: "ls" }, { env, looks: () => isLooking });
    expect(seen).toEqual([
      { unset: ["GIT_EXTERNAL_DIFF", "GIT_DIR"], settings: "core.fsmonitor" },
      { unset: [], settings: undefined },
    ]);
  });

  test("a terminal that cannot be had is an error result", async () => {
    const port: ShellPort = { run: () => Promise.reject(new Error("no terminal")) };
    const { content, isError } = await run(port, { command: "make" });
    expect([content, isError]).toEqual([
      "Error: The command cannot be started in the editor: no terminal.",
      true,
    ]);
  });

  test("a stopped run ends the command", async () => {
    const controller = new AbortController();
    const port: ShellPort = {
      run: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () =>
            resolve({ output: "so far\n", exitCode: null, signal: "SIGTERM" }),
          );
          controller.abort();
        }),
    };
    const { content } = await run(port, { command: "sleep 100" }, {}, controller.signal);
    expect(String(content).replace(/, \d+ ms/, "")).toBe("so far\n[aborted]");
  });

  test("a port that does not say that the command has ended is not waited for", async () => {
    const port: ShellPort = { run: () => new Promise(() => undefined) };
    const { content, isError } = await run(port, { command: "sleep 100", timeout_ms: 1 }, { graceMs: 0 });
    expect([String(content).replace(/, \d+ ms/, ""), isError]).toEqual(["(no output)\n[timed out]", true]);
  });

  test("secrets are taken out, and a long output is cut in its middle", async () => {
    const port: ShellPort = {
      run: async () => ({ output: `secret ${"x".repeat(100_000)} end`, exitCode: 0 }),
    };
    const redact = {
      text: (text: string) => text.replaceAll("secret", "***"),
      stream: () => ({ add: (text: string) => text, end: () => "" }),
    };
    const { content } = await run(port, { command: "cat" }, { redact });
    const text = String(content);
    expect([
      text.startsWith("*** xxx"),
      text.includes("secret"),
      text.length < 60_000,
      / end\n\[exit code 0/.test(text),
    ]).toEqual([true, false, true, true]);
  });

  test("confined commands stay with us, for nothing could confine them there; others go to it", async () => {
    const port: ShellPort = { run: async () => ({ output: "theirs", exitCode: 0 }) };
    const sandbox: CommandSandbox = {
      wrap: async ({ command, cwd, env }) => ({
        file: "/bin/sh",
        args: ["-c", command],
        cwd,
        env,
        descriptors: [],
        begin: async () => undefined,
        settle: async () => undefined,
        notes: () => [],
      }),
    };
    const placement = (input: object): CommandPlacement => ({
      runs: "access" in input ? "outside" : "inside",
      readOnly: false,
    });
    const texts = [];
    for (const input of [{}, { access: "full", reason: "Why not." }]) {
      const { content } = await run(port, { command: "echo ours", ...input }, { sandbox, placement });
      texts.push(String(content).split("\n")[0]);
    }
    expect(texts).toEqual(["ours", "theirs"]);
  });
});
