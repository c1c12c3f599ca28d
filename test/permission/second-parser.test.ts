import fc from "fast-check";
import { expect, test } from "vitest";
import { readShell } from "../../src/permission/shell/read-shell.ts";
import { commandLines } from "./command-grammar.ts";
import { DENIED_SPELLINGS, NOT_READING, READING } from "./command-lists.ts";
import { EFFECT_CASES } from "./effect-cases.ts";
import { COMMAND_CASES } from "./shell-cases.ts";
import { loadCommandNames } from "./tree-sitter-bash.ts";

const SHELL_CASES = [...COMMAND_CASES, ...EFFECT_CASES];

const commandNames = await loadCommandNames();

test.skipIf(commandNames === undefined)(
  "no command that another parser of Bash finds is overlooked (needs tree-sitter-bash)",
  () => {
    const lines = [
      ...SHELL_CASES.map(([, command]) => command),
      ...DENIED_SPELLINGS,
      ...READING,
      ...NOT_READING,
      ...fc.sample(commandLines, { numRuns: 1500, seed: 11 }),
    ];
    const counts = { compared: 0, commands: 0 };
    const overlooked = lines.flatMap((line) => {
      const names = commandNames?.(line);
      const { commands, obstacles } = readShell(line);
      // The other parser takes an escaped blank for a mere blank.
      if (names === undefined || obstacles.length > 0 || line.includes("\\ ")) return [];
      counts.compared++;
      counts.commands += names.length;
      const ours = new Set(commands.map(({ words }) => words[0]?.text));
      // Names in quotes are spelled differently; those of plain letters are not.
      return names
        .filter((name) => /^[\w./-]+$/.test(name) && !ours.has(name))
        .map((name) => `${name} in ${JSON.stringify(line)}`);
    });
    expect(overlooked).toEqual([]);
    expect(counts.compared).toBeGreaterThan(600);
    expect(counts.commands).toBeGreaterThan(1500);
  },
);
