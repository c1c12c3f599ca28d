import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { candidatesOf, completionFor, fuzzyBest } from "./complete-input.ts";
import { Attachments, cleanPaste, History } from "./input-line.ts";
import { ACTIONS, keymapOf } from "./keymap.ts";

const FILES = [
  "README.md",
  "src/faces/terminal/screen.ts",
  "src/session/record.ts",
  "test/screen/screen-kit.ts",
  "docs/screen.md",
  "my file.txt",
];
const SOURCES = {
  files: (query: string, limit: number) => fuzzyBest(query, candidatesOf(FILES), limit).best,
  commands: () => [{ name: "model", note: "choose" }, { name: "mode" }, { name: "review:deep" }],
};

function offered(text: string): readonly string[] | undefined {
  return completionFor({ text, caret: text.length, killed: "", past: [], future: [] }, SOURCES)?.items.map(
    ({ text: each }) => each,
  );
}

test.each([
  ["look at @scr", ["@docs/screen.md ", "@test/screen/screen-kit.ts ", "@src/faces/terminal/screen.ts "]],
  ["@my", ['@"my file.txt" ']],
  ["/mod", ["/model ", "/mode "]],
  ["/rd", ["/review:deep "]],
  ["mail a@b", undefined],
  ["text /mod", undefined],
  ["@zzzz", undefined],
])("for %j %j is offered", (text, wanted) => {
  expect(offered(text)?.slice(0, 3)).toEqual(wanted);
});

test("names are found by the beginnings of their words before letters anywhere", () => {
  const paths = [
    "a/xfaceytuix.ts",
    "src/faces/terminal/screen.ts",
    "lib/stuff/tui.ts",
    "src/faces/cli/tui-words.ts",
  ];
  expect(fuzzyBest("tui", candidatesOf(paths), 2).best).toEqual([
    "lib/stuff/tui.ts",
    "src/faces/cli/tui-words.ts",
  ]);
});

test("a longer query finds in what fitted the shorter one what it finds in everything", () => {
  const all = candidatesOf(
    Array.from({ length: 2_000 }, (_, index) => `src/module-${index % 97}/part-${index}.ts`),
  );
  const narrowed = fuzzyBest("mo7pa", fuzzyBest("mo7", all, 10).fitting, 10);
  expect(narrowed.best).toEqual(fuzzyBest("mo7pa", all, 10).best);
});

test("a path that lacks a letter of the query is not searched", () => {
  const [path] = candidatesOf(["src/very/long/path.ts"]);
  const unread = Object.defineProperty({ ...path }, "folded", { get: () => expect.unreachable() });
  expect(fuzzyBest("vm", [unread as NonNullable<typeof path>], 2).best).toEqual([]);
  expect(fuzzyBest("VL", path === undefined ? [] : [path], 2).best).toEqual([path?.text]);
});

test("a long paste stands as a mark and is sent whole, a short one stands as it is, both without escapes", () => {
  const attachments = new Attachments();
  const long = Array.from({ length: 120 }, (_, index) => `line ${index}`).join("\r\n");
  const mark = attachments.paste(`${long}\u001B[31m\u0000`, "/");
  expect({
    mark,
    again: attachments.paste(long, "/"),
    whole: attachments.expand(`before ${mark} after`),
    short: attachments.paste("two\rlines \u001B]0;x\u0007here\u202E", "/"),
  }).toEqual({
    mark: "[pasted 120 lines]",
    again: "[pasted 120 lines #2]",
    whole: `before ${long.replaceAll("\r\n", "\n")} after`,
    short: "two\nlines here",
  });
  expect(cleanPaste("a\u001B[2Jb\u009Bc\u0000d")).toBe("abcd");
});

test("the path of an image becomes the image, whatever quotes and escapes it comes with", () => {
  const cwd = tempFolder();
  const png = Buffer.from("89504e470d0a1a0a0000000d", "hex");
  writeFileSync(join(cwd, "a b.png"), png);
  writeFileSync(join(cwd, "no.png"), "text");
  const attachments = new Attachments();
  expect(
    [`'${join(cwd, "a b.png")}'`, "a\\ b.png", `file://${cwd}/a%20b.png`, "no.png", "gone.png"].map((each) =>
      attachments.paste(each, cwd),
    ),
  ).toEqual(["[image]", "[image #2]", "[image #3]", "no.png", "gone.png"]);
  expect(attachments.imagesIn("see [image #2]")).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } },
  ]);
});

test("history has each text once, the newest last, and reads what was before only when it is asked", () => {
  let reads = 0;
  const history = new History(() => {
    reads++;
    return ["old", "both"];
  });
  history.add("new");
  history.add("both");
  expect(reads).toBe(0);
  expect([history.all(), history.all(), reads]).toEqual([["old", "new", "both"], ["old", "new", "both"], 1]);
});

test("keys of the configuration replace the usual ones, take them from others, and what is wrong is said", () => {
  const { actionOf, problems } = keymapOf({
    queue: ["ctrl+s"],
    send: ["Ctrl-Enter"],
    newline: ["enter"],
    nothing: ["x"],
    undo: ["ctrl+nokey"],
  });
  expect([
    actionOf.get("ctrl+s"),
    actionOf.get("alt+enter"),
    actionOf.get("enter"),
    actionOf.get("ctrl+enter"),
    problems,
  ]).toEqual([
    "queue",
    undefined,
    "newline",
    "send",
    [
      `keys.nothing: there is no such action. Known: ${Object.keys(ACTIONS).join(", ")}.`,
      'keys.undo: "ctrl+nokey" names no key. Write it like "ctrl+s" or "alt+enter".',
    ],
  ]);
});
