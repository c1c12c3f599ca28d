import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { asOrdinaryUser, callTool, textOf } from "../../test/tools/call-tool.ts";
import { createGlobTool } from "./glob-tool.ts";
import type { SearchToolOptions } from "./search/ripgrep.ts";

type Engine = SearchToolOptions;

async function find(cwd: string, input: object, engine: Engine = {}): Promise<readonly string[]> {
  return textOf(await callTool(createGlobTool(engine), input, { cwd })).split("\n");
}

const TREE = {
  "a.ts": "",
  "b.js": "",
  ".hidden.ts": "",
  "src/c.ts": "",
  "src/deep/d.tsx": "",
  "src/文件 一.ts": "",
  "src/[x].ts": "",
  ".github/e.ts": "",
  "node_modules/m/f.ts": "",
  ".git/g.ts": "",
  ".nano-agent-tmp-000000-1-1-00000000": "",
};

describe.each<readonly [string, Engine]>([
  ["with ripgrep", {}],
  ["without ripgrep", { ripgrep: false }],
])("%s", (_name, engine) => {
  test.each<readonly [string, readonly string[]]>([
    ["*.ts", [".hidden.ts", "a.ts"]],
    ["./*.ts", [".hidden.ts", "a.ts"]],
    ["**/*.ts", [".github/e.ts", ".hidden.ts", "a.ts", "src/[x].ts", "src/c.ts", "src/文件 一.ts"]],
    ["**/*.{tsx,js}", ["b.js", "src/deep/d.tsx"]],
    ["{src,lib}/*.ts", ["src/[x].ts", "src/c.ts", "src/文件 一.ts"]],
    ["src/**", ["src/[x].ts", "src/c.ts", "src/deep/d.tsx", "src/文件 一.ts"]],
    ["src/\\[x\\].ts", ["src/[x].ts"]],
    ["node_modules/**/*.ts", ["node_modules/m/f.ts"]],
    ["?.[jt]s", ["a.ts", "b.js"]],
  ])("%s", async (pattern, expected) => {
    expect((await find(tempFolder(TREE), { pattern }, engine)).toSorted()).toEqual(expected.toSorted());
  });

  test("folders whose names look like patterns, and names in another spelling", async () => {
    const names = ["[id]", "(group)", "{a,b}", "[...rest]", "cafe\u0301"];
    const root = tempFolder(Object.fromEntries(names.map((name) => [`app/${name}/page.{x,y}`, ""])));
    const asked = [...names.slice(0, -1), "caf\u00e9"];
    const found = await Promise.all(
      asked.map((name) => find(root, { pattern: `app/${name}/page.{x,y}` }, engine)),
    );
    expect(found).toEqual(names.map((name) => [`app/${name}/page.{x,y}`]));
  });

  test("the newest come first, then names decide", async () => {
    const root = tempFolder({ a: "", b: "", c: "", d: "" });
    for (const [name, time] of [
      ["a", 1000],
      ["b", 3000],
      ["c", 2000],
      ["d", 2000],
    ] as const)
      utimesSync(join(root, name), time, time);
    expect(await find(root, { pattern: "*" }, engine)).toEqual(["b", "c", "d", "a"]);
  });

  test("ignore files of every folder are honoured", async () => {
    const root = tempFolder({
      ".gitignore": "*.log\n/dist/\n!keep.log\nsub/*.tmp\n",
      ".ignore": "secret.txt\n!forced.log\n",
      "a.log": "",
      "keep.log": "",
      "forced.log": "",
      "dist/x.js": "",
      "sub/dist/y.js": "",
      "sub/a.tmp": "",
      "sub/secret.txt": "",
      "sub/.gitignore": "!a.log\nnested.js\n",
      "sub/a.log": "",
      "sub/nested.js": "",
      "nested.js": "",
    });
    expect((await find(root, { pattern: "**/*.{log,js,tmp,txt}" }, engine)).toSorted()).toEqual(
      ["forced.log", "keep.log", "nested.js", "sub/a.log", "sub/dist/y.js"].toSorted(),
    );
  });

  test("ignore files above the folder count up to the repository", async () => {
    const root = tempFolder({
      ".gitignore": "*.no\n",
      "repo/.gitignore": "*.log\n",
      "repo/sub/a.log": "",
      "repo/sub/b.no": "",
      "repo/sub/c": "",
    });
    mkdirSync(join(root, "repo/.git"));
    expect((await find(join(root, "repo/sub"), { pattern: "*" }, engine)).toSorted()).toEqual(["b.no", "c"]);
  });

  test("a folder that is named is searched although an ignore file names it", async () => {
    const root = tempFolder({ ".gitignore": "dist/\n", "dist/x.js": "" });
    expect([
      await find(root, { pattern: "*.js", path: "dist" }, engine),
      await find(root, { pattern: "**/*.js" }, engine),
    ]).toEqual([["dist/x.js"], [`No files match **/*.js in ${root}.`]]);
  });

  test("a folder that another file brings back is searched", async () => {
    const root = tempFolder({ ".gitignore": "dist/\n", ".ignore": "!dist/\n", "dist/x.js": "" });
    expect(await find(root, { pattern: "**/*.js" }, engine)).toEqual(["dist/x.js"]);
  });

  test("links are not followed, and FIFOs are not files", async () => {
    const root = tempFolder({ "real/a.ts": "" });
    symlinkSync("real", join(root, "link"));
    symlinkSync("real/a.ts", join(root, "b.ts"));
    execFileSync("mkfifo", [join(root, "c.ts")]);
    expect(await find(root, { pattern: "**/*.ts" }, engine)).toEqual(["real/a.ts"]);
  });

  test("paths are relative to the working folder, or absolute outside it", async () => {
    const root = tempFolder({ "work/x": "", "other/a.ts": "", "work/sub/b.ts": "" });
    const work = join(root, "work");
    expect([
      await find(work, { pattern: "*.ts", path: "../other" }, engine),
      await find(work, { pattern: "*.ts", path: "sub" }, engine),
      await find(work, { pattern: `${work}/sub/*.ts`, path: "." }, engine),
    ]).toEqual([[join(root, "other/a.ts")], ["sub/b.ts"], ["sub/b.ts"]]);
  });

  test("excluded files are not listed", async () => {
    const root = tempFolder({ ".env": "", a: "" });
    const excludes = (path: string) => path === join(root, ".env");
    expect(await find(root, { pattern: "*" }, { ...engine, excludes })).toEqual(["a"]);
  });

  test("the list is bounded, with a note", async () => {
    const root = tempFolder(Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`f${index}`, ""])));
    const lines = await find(root, { pattern: "*" }, engine);
    expect([lines.length, lines.at(-1)]).toEqual([201, "[The newest 200 of 250 files. Narrow the pattern.]"]);
  });

  test("a folder inside that cannot be read is passed over", async () => {
    const root = tempFolder({ "a.ts": "", "closed/b.ts": "" });
    chmodSync(join(root, "closed"), 0);
    const found = await asOrdinaryUser(root, async () => find(root, { pattern: "**/*.ts" }, engine));
    chmodSync(join(root, "closed"), 0o700);
    expect(found).toEqual(["a.ts"]);
  });
});

describe("what cannot be searched", () => {
  test.each([
    [{ pattern: "*", path: "none" }, "Error: none: there is no such file or folder."],
    [{ pattern: "*", path: "a.txt" }, "Error: a.txt is a file: path is the folder to search."],
    [
      { pattern: "../*" },
      'Error: pattern "../*" must stay below path (.): give the folder as path and a relative pattern.',
    ],
    [
      { pattern: "/etc/*" },
      'Error: pattern "/etc/*" must stay below path (.): give the folder as path and a relative pattern.',
    ],
    [{ pattern: "x".repeat(2000) }, "Error: pattern has 2000 characters: at most 1000."],
    [
      { pattern: "*.md", path: "sub" },
      "No files match *.md in sub. It looks only directly in that folder: **/*.md looks below it too.",
    ],
  ])("%j", async (input, expected) => {
    expect(await find(tempFolder({ "a.txt": "", "sub/x": "" }), input)).toEqual([expected]);
  });
});

test("a program that is not ripgrep is passed over", async () => {
  const root = tempFolder({ "a.ts": "" });
  expect(await find(root, { pattern: "*" }, { ripgrep: join(root, "none") })).toEqual(["a.ts"]);
});

test("an aborted call throws the reason", async () => {
  const call = callTool(
    createGlobTool(),
    { pattern: "*" },
    { cwd: tempFolder(), signal: AbortSignal.abort(new Error("stopped")) },
  );
  await expect(call).rejects.toThrow("stopped");
});

test("both engines find the same in any tree", async () => {
  const name = fc.constantFrom("a", "b.ts", "c.log", ".d", "dist");
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join("/")}/x.ts`);
  const rule = fc.constantFrom(
    "*.ts",
    "!x.ts",
    "dist",
    "/a",
    "a/",
    "b.ts/**",
    "**/c.log",
    "!a/",
    "# note",
    ".d/x.ts",
  );
  const rules = fc.array(rule, { maxLength: 3 }).map((lines) => lines.join("\n"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(path, { maxLength: 6 }),
      rules,
      rules,
      fc.constantFrom(".", "a"),
      async (paths, top, nested, where) => {
        const files = Object.fromEntries(paths.map((file) => [file, ""]));
        const root = tempFolder({ ...files, "a/x.ts": "", ".gitignore": top, "a/.ignore": nested });
        mkdirSync(join(root, ".git"));
        const input = { pattern: "**/*", path: where };
        const [one, two] = [await find(root, input), await find(root, input, { ripgrep: false })];
        expect(two.toSorted()).toEqual(one.toSorted());
      },
    ),
    { numRuns: 40 },
  );
});
