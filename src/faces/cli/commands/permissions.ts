import { currentFolder, userPaths } from "../../../coding/settings/paths.ts";
import { errorMessage, misuse } from "../../../core/base/errors.ts";
import { describeDefaults } from "../../../permission/built-in-rules.ts";
import { checkLine } from "../../../permission/check-lines.ts";
import type { PolicyDecision } from "../../../permission/policy.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, settingsHere } from "../command-context.ts";
import { stdinKind } from "../read-stdin.ts";
import { inputLines } from "../stream-json-input.ts";

/**
 * `nano-agent permissions check COMMAND`: what the rules in force in this folder decide about a command line,
 * in words. Exit 3 where it would not simply run. Without a command: reads JSON lines `{ tool, input, rules?,
 * defaults?, cwd?, workspace?, home?, mode?, sandbox? }` and answers each with one line `{ decision, part?,
 * rule?, reason, suggestion?, runs? }` as soon as it is read; a malformed line is answered with `{ error }`,
 * and the exit code is 2 once all are answered.
 * `nano-agent permissions defaults` lists the built-in rules.
 */
export async function permissions(context: CommandContext, call: CommandCall): Promise<number> {
  if (call.action === "defaults") {
    const rows = describeDefaults();
    answer(context, call, { json: () => rows, text: () => `${rows.join("\n")}\n` });
    return EXIT.done;
  }
  const [command] = call.words;
  if (command !== undefined) return checkCommand(context, call, command);
  if (stdinKind() === "terminal")
    throw misuse("permissions check needs a command in quotes: nano-agent permissions check 'npm test'.");
  return checkInput(context);
}

async function checkCommand(context: CommandContext, call: CommandCall, command: string): Promise<number> {
  const { config, paths, cwd } = await settingsHere(context);
  const { permissions: own = {}, allowedTools = [], disallowedTools = [], permissionMode } = config.values;
  const line = JSON.stringify({
    tool: "bash",
    input: { command },
    rules: {
      allow: [...(own.allow ?? []), ...allowedTools],
      ask: own.ask ?? [],
      deny: [...(own.deny ?? []), ...disallowedTools],
    },
    mode: permissionMode,
  });
  const decided = checkLine(line, { cwd, home: paths.home });
  if ("error" in decided) throw misuse(decided.error);
  const assumed = `without a sandbox, in mode ${permissionMode ?? "default"}`;
  const text = (): string => `${decisionLines(command, decided, assumed).join("\n")}\n`;
  answer(context, call, { json: () => decided, text });
  return decided.decision === "allow" ? EXIT.done : EXIT.refused;
}

const DECISIONS = { allow: "allowed", ask: "asks a person", deny: "refused" } as const;

/** A decision in words, one fact a line. `assumed`: what it holds for. */
function decisionLines(
  command: string,
  answer: Omit<PolicyDecision, "code" | "looks" | "place">,
  assumed: string,
): readonly string[] {
  const { decision, part, rule, reason, suggestion, runs } = answer;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["command", command],
    ["judged", assumed],
    ["decision", DECISIONS[decision]],
    ["because of", part === command ? undefined : part],
    ["rule", rule],
    ["reason", reason],
    ["runs", runs],
    ["would allow it", decision === "ask" ? suggestion : undefined],
  ];
  return facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${`${name}:`.padEnd(16)}${terminalLine(value, 2_000)}`],
  );
}

async function checkInput({ stdout, stderr, environment }: CommandContext): Promise<number> {
  const base = { cwd: currentFolder(), home: userPaths(environment).home };
  let malformed = 0;
  let number = 0;
  try {
    for await (const line of inputLines(process.stdin)) {
      number++;
      if (line.trim() === "") continue;
      const decided = checkLine(line, base);
      stdout.write(`${JSON.stringify(decided)}\n`);
      if ("error" in decided) {
        malformed++;
        stderr.write(`nano-agent: line ${number}: ${decided.error}\n`);
      }
      await stdout.drain();
    }
  } catch (error) {
    throw misuse(`Standard input cannot be read: ${errorMessage(error)}. Pipe JSON lines.`, { cause: error });
  }
  return malformed === 0 ? EXIT.done : EXIT.usage;
}
