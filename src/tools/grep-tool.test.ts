import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAlive, pidsIn, until } from "../../test/faults/until.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { asOrdinaryUser, callTool, textOf } from "../../test/tools/call-tool.ts";
import { createGrepTool } from "./grep-tool.ts";
import type { SearchToolOptions } from "./search/ripgrep.ts";

async function grep(cwd: string, input: object, options: SearchToolOptions = {}): Promise<string> {
  return textOf(await callTool(createGrepTool(options), input, { cwd }));
}

const TREE = {
  "a.ts": "one\ntwo needle\nthree\nfour\nfive\nsix needle\n",
  "sub/b.js": "Needle\r\nneedle needle\r\n",
  "sub/文件.md": "说明 needle\n",
  ".hidden/c.ts": "needle\n",
  ".gitignore": "*.log\n",
  "d.log": "needle\n",
  "node_modules/m/e.ts": "needle\n",
  ".git/f": "needle\n",
};

function tree(): string {
  const root = tempFolder(TREE);
  for (const [index, path] of ["a.ts", "sub/b.js", "sub/文件.md", ".hidden/c.ts"].entries()) {
    utimesSync(join(root, path), 9000 - index, 9000 - index);
  }
  return root;
}

describe.each<readonly [string, SearchToolOptions]>([
  ["with ripgrep", {}],
  ["without ripgrep", { ripgrep: false }],
])("%s", (_name, options) => {
  test("files are listed, the newest first, ignored ones left out", async () => {
    expect(await grep(tree(), { pattern: "needle" }, options)).toBe(
      "a.ts\nsub/b.js\nsub/文件.md\n.hidden/c.ts",
    );
  });

  test("a glob finds folders and files whose names look like patterns", async () => {
    const root = tempFolder({ "app/[id]/{a,b}.ts": "needle\n", "app/i/c.ts": "needle\n" });
    const globs = ["app/[id]/{a,b}.ts", "app/[id]/*.ts", "{a,b}.ts"];
    const found = await Promise.all(globs.map((glob) => grep(root, { pattern: "needle", glob }, options)));
    expect(found.map((text) => text.split("\n").toSorted())).toEqual([
      ["app/[id]/{a,b}.ts"],
      ["app/[id]/{a,b}.ts", "app/i/c.ts"],
      ["app/[id]/{a,b}.ts"],
    ]);
  });

  test("lines stand under their file, with numbers", async () => {
    expect(await grep(tree(), { pattern: "needle", mode: "content", glob: "*.{ts,js}" }, options)).toBe(
      ".hidden/c.ts\n1:needle\n\na.ts\n2:two needle\n6:six needle\n\nsub/b.js\n2:needle needle",
    );
  });

  test("lines around a match are marked, and gaps shown", async () => {
    expect(
      await grep(tree(), { pattern: "needle", mode: "content", context: 1, path: "a.ts" }, options),
    ).toBe("a.ts\n1-one\n2:two needle\n3-three\n--\n5-five\n6:six needle");
  });

  test("matching lines are counted", async () => {
    expect(await grep(tree(), { pattern: "needle", mode: "count", ignore_case: true }, options)).toBe(
      ".hidden/c.ts: 1\na.ts: 2\nsub/b.js: 2\nsub/文件.md: 1\n6 in 4 files",
    );
  });

  test.each<readonly [object, string]>([
    [{ pattern: "NEEDLE" }, "No matches for NEEDLE in sub."],
    [{ pattern: "NEEDLE", ignore_case: true }, "sub/b.js\nsub/文件.md"],
    [{ pattern: "^needle needle$" }, "sub/b.js"],
    [{ pattern: "needle", glob: "*.md" }, "sub/文件.md"],
    [{ pattern: "needle", glob: "!*.md" }, "sub/b.js"],
    [{ pattern: "needle", glob: "deep/*.md" }, "No matches for needle in sub (files deep/*.md)."],
    [{ pattern: "(?i)NEEDLE NEEDLE" }, "sub/b.js"],
    [{ pattern: "Needle(?=$)" }, "sub/b.js"],
    [{ pattern: "(needle) \\1" }, "sub/b.js"],
    [{ pattern: "Needle\\r?\\nneedle" }, "sub/b.js"],
    [{ pattern: "Needle.*needle", multiline: true }, "sub/b.js"],
    [{ pattern: "Needle.*needle" }, "No matches for Needle.*needle in sub."],
  ])("%j", async (input, expected) => {
    expect(await grep(tree(), { ...input, path: "sub" }, options)).toBe(expected);
  });

  test("a match over several lines shows them all", async () => {
    const root = tempFolder({ a: "x\nbegin\nmiddle\nend\ny\n" });
    expect(await grep(root, { pattern: "begin.*end", mode: "content", multiline: true }, options)).toBe(
      "a\n2:begin\n3:middle\n4:end",
    );
  });

  test("a pattern that begins with a dash is not an option", async () => {
    const root = tempFolder({ a: "--files -e x\n", "-v": "--files\n" });
    expect([
      await grep(root, { pattern: "--files -e", mode: "content" }, options),
      await grep(root, { pattern: "-", path: "-v", mode: "count" }, options),
    ]).toEqual(["a\n1:--files -e x", "-v: 1"]);
  });

  test("a glob does not bring ignored files back", async () => {
    const root = tempFolder({
      ".gitignore": ".env\nsrc/*.log\n",
      ".env": "key\n",
      "src/a.log": "key\n",
      "src/b.txt": "key\n",
    });
    const globs = [".env", "*", "src/*", "**/*.log"];
    const found: string[] = [];
    for (const glob of globs) found.push(await grep(root, { pattern: "key", glob }, options));
    expect(found).toEqual([
      `No matches for key in ${root} (files .env).`,
      "src/b.txt",
      "src/b.txt",
      `No matches for key in ${root} (files **/*.log).`,
    ]);
  });

  test("excluded files are not shown, nor those whose check fails", async () => {
    const root = tempFolder({ ".env": "key\n", a: "key\n", b: "key\n" });
    const excludes = (path: string): boolean => {
      if (path === join(root, "b")) throw new Error("no verdict");
      return path === join(root, ".env");
    };
    const search = { pattern: "key", mode: "content" };
    expect(await grep(root, search, { ...options, excludes })).toBe("a\n1:key");
  });

  test("a bad pattern is an error that says how to search for plain text", async () => {
    const text = await grep(tempFolder({ a: "f(x)" }), { pattern: "f(" }, options);
    expect([text.startsWith("Error: The search cannot be done: "), text.split("\n").at(-1)]).toEqual([
      true,
      "To search for plain text, put a backslash before each of . * + ? ( ) [ ] { } | ^ $ \\",
    ]);
  });

  test("binary files are passed over, and UTF-16 is read", async () => {
    const root = tempFolder({ text: "needle\n" });
    writeFileSync(join(root, "binary"), Buffer.from("needle\0\x01\x02\x03needle"));
    writeFileSync(join(root, "wide"), Buffer.from("\uFEFFwide needle\n", "utf16le"));
    expect(await grep(root, { pattern: "needle", mode: "content" }, options)).toBe(
      "text\n1:needle\n\nwide\n1:wide needle",
    );
  });

  test("long lines are cut", async () => {
    const root = tempFolder({ a: `needle${"x".repeat(5000)}\n` });
    const text = await grep(root, { pattern: "needle", mode: "content" }, options);
    expect(text).toBe(`a\n1:needle${"x".repeat(494)} [... omitted end of long line]`);
  });

  test("results are bounded by number", async () => {
    const root = tempFolder({ a: "x\n".repeat(1000), b: "x\n", c: "x\n" });
    for (const [index, path] of ["a", "b", "c"].entries())
      utimesSync(join(root, path), 9000 - index, 9000 - index);
    expect([
      await grep(root, { pattern: "x", mode: "content", limit: 2 }, options),
      await grep(root, { pattern: "x", limit: 2 }, options),
      await grep(root, { pattern: "x", mode: "count", limit: 2 }, options),
    ]).toEqual([
      "a\n1:x\n2:x\n[Only the first 2 results are shown. Narrow the search.]",
      "a\nb\n[The newest 2 of 3 files. Narrow the search.]",
      "a: 1000\nb: 1\n1001 in 2 files\n[Only the first 2 results are shown. Narrow the search.]",
    ]);
  });

  test("results are bounded by bytes", async () => {
    const root = tempFolder({ a: `${"x".repeat(400)}\n`.repeat(1000) });
    const text = await grep(root, { pattern: "x", mode: "content", limit: 2000 }, options);
    expect([
      text.length > 29_000,
      text.length < 31_000,
      text.endsWith("results are shown. Narrow the search.]"),
    ]).toEqual([true, true, true]);
  });

  test("links are not followed, FIFOs passed over, and what cannot be read is counted", async () => {
    const root = tempFolder({ a: "needle\n", "closed/b": "needle\n", c: "needle\n" });
    symlinkSync("a", join(root, "link"));
    execFileSync("mkfifo", [join(root, "fifo")]);
    chmodSync(join(root, "c"), 0);
    chmodSync(join(root, "closed"), 0);
    const text = await asOrdinaryUser(root, async () => grep(root, { pattern: "needle" }, options));
    chmodSync(join(root, "closed"), 0o700);
    expect(text).toBe("a\n[2 files or folders could not be read.]");
  });

  test("an aborted call throws the reason", async () => {
    const call = callTool(
      createGrepTool(options),
      { pattern: "x" },
      { cwd: tempFolder(), signal: AbortSignal.abort(new Error("stopped")) },
    );
    await expect(call).rejects.toThrow("stopped");
  });
});

test("a missing path names its neighbours, and an empty pattern is refused", async () => {
  const root = tempFolder({ "source/a": "" });
  expect([await grep(root, { pattern: "x", path: "sorce" }), await grep(root, { pattern: "" })]).toEqual([
    `Error: sorce: there is no such file or folder. Did you mean ${join(root, "source")}?`,
    "Error: pattern is empty: it would match every line.",
  ]);
});

test("a configuration file of ripgrep is not read", async () => {
  const root = tempFolder({ a: "needle\n", "config/rc": "--invert-match\n" });
  process.env["RIPGREP_CONFIG_PATH"] = join(root, "config/rc");
  const text = await grep(root, { pattern: "needle", mode: "content" }).finally(
    () => delete process.env["RIPGREP_CONFIG_PATH"],
  );
  expect(text).toBe("a\n1:needle");
});

test("a search that takes too long ends with what it has, its process gone", async () => {
  const root = tempFolder({ a: "needle\n" });
  const slow = join(root, "slow-rg");
  writeFileSync(
    slow,
    `#!/bin/sh\ncase "$*" in *--version*) echo "ripgrep 15.0.0"; exit;; esac\nprintf './a\\0'\necho $$ > "${root}/pid"\nexec sleep 600\n`,
  );
  chmodSync(slow, 0o755);
  let timeoutMs = 100;
  let text = "";
  // A busy machine may take longer than that to start it.
  while (pidsIn(join(root, "pid")).length === 0) {
    timeoutMs *= 2;
    text = await grep(root, { pattern: "needle" }, { ripgrep: slow, timeoutMs });
  }
  expect(text).toBe(`a\n[Stopped after ${timeoutMs / 1000} s: there may be more.]`);
  await until(() => !pidsIn(join(root, "pid")).some(isAlive));
});

test("aborting ends the process", async () => {
  const root = tempFolder({});
  const slow = join(root, "slow-rg");
  writeFileSync(
    slow,
    `#!/bin/sh\ncase "$*" in *--version*) echo "ripgrep 15.0.0"; exit;; esac\necho $$ > "${root}/pid"\nexec sleep 600\n`,
  );
  chmodSync(slow, 0o755);
  mkdirSync(join(root, "x"));
  const controller = new AbortController();
  const call = callTool(
    createGrepTool({ ripgrep: slow }),
    { pattern: "x", path: "x" },
    { cwd: root, signal: controller.signal },
  );
  await until(() => pidsIn(join(root, "pid")).length > 0);
  controller.abort(new Error("stopped"));
  await expect(call).rejects.toThrow("stopped");
  await until(() => !pidsIn(join(root, "pid")).some(isAlive));
});

test("without ripgrep a runaway pattern is ended", async () => {
  const root = tempFolder({ a: `${"a".repeat(60)}b\n` });
  expect(await grep(root, { pattern: "(a+)+$" }, { ripgrep: false })).toContain(
    "takes more than 2 s on a. Use a simpler one.",
  );
});

test("both engines find the same lines", async () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "中", "\t", "."), maxLength: 6 });
  const text = fc
    .tuple(fc.array(line, { maxLength: 6 }), fc.constantFrom("\n", "\r\n"))
    .map(([lines, ending]) => lines.join(ending));
  const pattern = fc.constantFrom(
    "a",
    "b$",
    "^a",
    "a.b",
    "中",
    "\\s",
    "a|b",
    "[ab]{2}",
    "\\.",
    "a\\nb",
    "^$",
    "b\\b",
  );
  await fc.assert(
    fc.asyncProperty(text, text, pattern, fc.nat({ max: 2 }), async (one, two, wanted, context) => {
      const root = tempFolder({ "x/one": one, two });
      const input = { pattern: wanted, mode: "content", context };
      expect(await grep(root, input, { ripgrep: false })).toBe(await grep(root, input));
    }),
    { numRuns: 60 },
  );
});
