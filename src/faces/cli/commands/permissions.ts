import { currentFolder, userPaths } from "../../../app/config/paths.ts";
import { errorMessage } from "../../../core/base/errors.ts";
import { describeDefaults } from "../../../permission/built-in-rules.ts";
import { checkLine } from "../../../permission/check-lines.ts";
import type { CommandContext } from "../command-context.ts";
import { commandWords } from "../command-words.ts";
import { EXIT } from "../exit-code.ts";
import { usageError } from "../usage-error.ts";

/**
 * `nano-agent permissions check`: reads JSON lines `{ tool, input, rules?, defaults?, cwd?, workspace?, home?, mode? }` and answers each with one line
 * `{ decision, part?, parts?, rule?, reason, suggestion?, runs? }` as soon as it is read. A malformed line is answered with `{ error }`, and the exit code is 2
 * once all are answered. `nano-agent permissions defaults` lists the built-in rules.
 */
export async function permissions(context: CommandContext, args: readonly string[]): Promise<number> {
  const { words, json } = commandWords(args, { name: "permissions", max: 1 });
  const { stdout } = context;
  switch (words[0]) {
    case "check":
      return checkInput(context);
    case "defaults": {
      const rules = describeDefaults();
      stdout.write(json ? `${JSON.stringify(rules)}\n` : `${rules.join("\n")}\n`);
      return EXIT.done;
    }
    default:
      throw usageError(
        "Write nano-agent permissions check (JSON lines on standard input) or nano-agent permissions defaults.",
      );
  }
}

async function checkInput({ stdout, stderr, environment }: CommandContext): Promise<number> {
  const base = { cwd: currentFolder(), home: userPaths(environment).home };
  let malformed = 0;
  let number = 0;
  for await (const line of inputLines()) {
    number++;
    if (line.trim() === "") continue;
    const answer = checkLine(line, base);
    stdout.write(`${JSON.stringify(answer)}\n`);
    if ("error" in answer) {
      malformed++;
      stderr.write(`nano-agent: line ${number}: ${answer.error}\n`);
    }
    await stdout.drain();
  }
  return malformed === 0 ? EXIT.done : EXIT.usage;
}

/** The lines of standard input as they come. Only a line feed ends one. */
async function* inputLines(): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  try {
    for await (const chunk of process.stdin) {
      const parts = decoder.decode(chunk as Uint8Array, { stream: true }).split("\n");
      for (const [index, part] of parts.entries()) {
        pieces.push(part);
        if (index === parts.length - 1) continue;
        yield pieces.join("");
        pieces = [];
      }
    }
  } catch (error) {
    throw usageError(`Standard input cannot be read: ${errorMessage(error)}. Pipe JSON lines.`, error);
  }
  const last = pieces.join("");
  if (last !== "") yield last;
}
