import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CommandPorts,
  commandParts,
  expandCommand,
  parseCommandCall,
  splitArguments,
} from "./expand-command.ts";

const ports: CommandPorts = {
  run: async (command) => `<${command}: $1 !\`evil\` @a.ts>`,
  read: async (path) => (path.endsWith(".ts") ? `[${path}]` : undefined),
};

const expand = (body: string, args = "", mayRun = true): Promise<string> =>
  expandCommand({ body, mayRun }, args, ports);

test.each([
  ["Review $1 and $2.", "src 'two words'", "Review src and two words."],
  ["Do: $ARGUMENTS!", "a  b", "Do: a  b!"],
  ["Nothing to fill $1$2", "", "Nothing to fill "],
  ["Say hello.", "to Eve", "Say hello.\n\nto Eve"],
  ["$10 is a price, $A a name", "x", "$10 is a price, $A a name\n\nx"],
  ["State: !`git status`.", "x", "State: <git status: $1 !`evil` @a.ts>.\n\nx"],
  ["See @src/a.ts, or (@b.ts).", "", "See [src/a.ts], or ([b.ts])."],
  ["Mail me@b.ts or @nobody, @param", "", "Mail me@b.ts or @nobody, @param"],
  ["$ARGUMENTS", "!`evil` @a.ts $& $1", "!`evil` @a.ts $& $1"],
])("%j with %j", async (body, args, prompt) => {
  expect(await expand(body, args)).toBe(prompt);
});

test("a command that is not trusted to run anything keeps the text of its commands", async () => {
  expect(await expand("State: !`git status` of @a.ts", "", false)).toBe("State: !`git status` of [a.ts]");
});

test("arguments, outputs and files are never looked through again", async () => {
  const piece = fc.constantFrom(
    "$1",
    "$ARGUMENTS",
    "!`x`",
    "@a.ts",
    " ",
    "a",
    "`",
    "!",
    "\n",
    "$&",
    "'",
    '"',
  );
  const text = fc.array(piece).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(text, text, text, async (body, args, output) => {
      const seen: string[] = [];
      const parts = commandParts(body);
      const prompt = await expandCommand({ body, mayRun: true }, args, {
        run: async (command) => (seen.push(`!${command}`), output),
        read: async (path) => (seen.push(`@${path}`), output),
      });
      const own = parts.flatMap((part) =>
        part.type === "run" ? [`!${part.command}`] : part.type === "file" ? [`@${part.path}`] : [],
      );
      expect(seen).toEqual(own);
      const words = splitArguments(args);
      const filled = parts.map((part) =>
        part.type === "text"
          ? part.text
          : part.type === "argument"
            ? part.index === 0
              ? args
              : (words[part.index - 1] ?? "")
            : output,
      );
      expect(prompt.startsWith(filled.join(""))).toBe(true);
      expect(parts.map((part) => ("source" in part ? part.source : part.text)).join("")).toBe(body);
    }),
  );
});

test.each([
  ["/review src/a.ts", { name: "review", args: "src/a.ts" }],
  ["/git:commit\n two\nlines ", { name: "git:commit", args: "two\nlines" }],
  ["/fix", { name: "fix", args: "" }],
  ["/usr/bin/env is a path", undefined],
  ["// comment", undefined],
  [" /review as text", undefined],
  ["a /review", undefined],
])("%j is read as a call, or is a prompt", (prompt, call) => {
  expect(parseCommandCall(prompt)).toEqual(call);
});
