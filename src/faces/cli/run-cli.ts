import { explainRemovedFolder } from "../../coding/settings/paths.ts";
import {
  invalidArgument,
  isNanoAgentError,
  NanoAgentError,
  toNanoAgentError,
} from "../../core/base/errors.ts";
import { editDistance, quoteShellArgument } from "../../core/base/text.ts";
import { withoutSessionHint } from "../../session/session-error.ts";
import { readEnvironment } from "../../system/env.ts";
import { EXIT, exitCodeOfError } from "../../view/exit-code.ts";
import { type Command, readCommandCall } from "./command-call.ts";
import { type CommandContext, isTerminal, say, standardOutput } from "./command-context.ts";
import { COMMANDS } from "./commands.ts";
import { explainError } from "./explain-error.ts";
import { runHeadless } from "./headless.ts";
import { stdinKind } from "./prompt.ts";
import { type CommandSpec, NO_VALUE } from "./read-options.ts";
import { type RunFlags, readFlags, readRunFlags } from "./run-flags.ts";

declare const NANO_AGENT_VERSION: string;

/** The whole program: resolves to the exit code when all output is written. Never rejects. */
export async function runCli(args: readonly string[]): Promise<number> {
  const context: CommandContext = {
    environment: readEnvironment(),
    stdout: standardOutput(1),
    stderr: standardOutput(2),
  };
  const writeErrors: string[] = [];
  context.stdout.onBroken(({ code, message }: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`| head -1`) misses nothing; a full disk has lost output.
    if (code !== "EPIPE") writeErrors.push(message);
  });
  const code = await dispatch(context, args).catch((thrown: unknown) => {
    const error = toNanoAgentError(explainRemovedFolder(thrown), "internal");
    say(context, explainError(error, { settings: undefined, model: undefined }));
    return exitCodeOfError(error.code);
  });
  await context.stdout.drain();
  for (const problem of writeErrors) say(context, `standard output: ${problem}`);
  await context.stderr.drain();
  return writeErrors.length > 0 && code === EXIT.done ? EXIT.failed : code;
}

async function dispatch(context: CommandContext, args: readonly string[]): Promise<number> {
  const [first = ""] = args;
  const command = COMMANDS.find(({ name }) => name === first);
  if (command !== undefined) return runCommand(context, command, args.slice(1));
  if (first === "help" && args.length <= 3) {
    const named = COMMANDS.find(({ name }) => name === args[1]);
    if (named !== undefined) return runCommand(context, named, [...args.slice(2), "--help"]);
    if (args.length === 1) return showHelp(context);
  }
  const flags = readFlags(args);
  if (flags.has("--help")) return showHelp(context);
  if (flags.has("--version")) {
    context.stdout.write(`${NANO_AGENT_VERSION}\n`);
    return EXIT.done;
  }
  const run = readRunFlags(flags);
  // In a resumed conversation a single word is an answer: `-c continue`.
  if (run.session.resume === undefined) assertNotCommand(run.words, args.includes("--"));
  if (isInteractive(run)) {
    const { runInteractive } = await import("./interactive.ts");
    return runInteractive(context, { ...run, picksSession: flags.text("--resume") === NO_VALUE });
  }
  if (run.words.length === 0 && run.session.resume?.step === undefined && stdinKind() === "terminal") {
    throw invalidArgument(
      'There is no prompt, and output does not go to a terminal or has a format for programs. Say what to do: nano-agent -p "…".',
    );
  }
  return runHeadless(context, run);
}

/** True if both ends are a terminal and no option asks for output for programs. */
function isInteractive(run: RunFlags): boolean {
  const forPrograms =
    run.print || run.outputFormat !== "text" || run.jsonSchema !== undefined || run.outputFile !== undefined;
  return !forPrograms && stdinKind() === "terminal" && isTerminal(1);
}

async function runCommand(
  context: CommandContext,
  command: CommandSpec,
  args: readonly string[],
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    const { commandHelp } = await import("./help.ts");
    context.stdout.write(commandHelp(command, args[0]));
    return EXIT.done;
  }
  const call = readCommandCall(command, args);
  const commands: { readonly [name: string]: Command | undefined } = await import("./small-commands.ts");
  const run = commands[command.name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())];
  if (run === undefined) throw toNanoAgentError(`The command ${command.name} cannot be loaded.`, "internal");
  return run({ ...context, ...call }).catch(rethrowForCommand);
}

/** Only a run works without a session. */
function rethrowForCommand(thrown: unknown): never {
  if (!isNanoAgentError(thrown, "journal")) throw thrown;
  const { code, message, details } = thrown;
  throw new NanoAgentError(code, withoutSessionHint(message), { cause: thrown, details });
}

async function showHelp({ stdout }: CommandContext): Promise<number> {
  const { helpText } = await import("./help.ts");
  stdout.write(helpText());
  return EXIT.done;
}

/**
 * Stops a prompt that is most likely a mistyped command, or one after an option, before it becomes a paid
 * request. Throws `invalid_argument` with what was probably meant. `isForced`: the words follow `--`.
 */
export function assertNotCommand(words: readonly string[], isForced: boolean): void {
  const hint = isForced ? undefined : suggestionFor(words);
  if (hint === undefined) return;
  const isLate = COMMANDS.some(({ name }) => name === words[0]);
  const what = isLate ? "is not a command after an option" : "is not a command";
  const order = isLate ? " The command comes first, then its options." : "";
  throw invalidArgument(
    `${JSON.stringify(words.join(" "))} ${what}. Did you mean ${hint}?${order} To send it as a prompt: nano-agent -p -- ${words.map(quoteShellArgument).join(" ")}`,
  );
}

function suggestionFor(words: readonly string[]): string | undefined {
  const [first = "", second] = words.map((word) => word.toLowerCase());
  if (first === "help" && second !== undefined)
    return suggestionFor(words.slice(1))?.replace("nano-agent", "nano-agent help");
  // Slash commands and questions are not typos.
  if (!/^[a-z-]+$/.test(first)) return undefined;
  if (second === undefined && isTypoOf(first, "version")) return "nano-agent --version";
  const command = COMMANDS.find(({ name }) => isTypoOf(first, name));
  if (command === undefined || second === undefined) return command && `nano-agent ${command.name}`;
  return suggestedCall(command, words);
}

/** A command with an action and arguments; undefined if the words may be a sentence. */
function suggestedCall({ name: meant, actions }: CommandSpec, words: readonly string[]): string | undefined {
  const [first = "", second = ""] = words.map((word) => word.toLowerCase());
  const named = actions.find(({ name }) => name !== undefined && isTypoOf(second, name));
  const unnamed = meant === first ? actions.find(({ name }) => name === undefined) : undefined;
  const action = named ?? unnamed;
  const rest = words.slice(named === undefined ? 1 : 2);
  // Ids, files, numbers and quoted commands do not occur in sentences.
  const isCall = rest.every((word) => /[^a-z]|^[a-f]+$/i.test(word));
  if (action === undefined || !isCall || rest.length > action.words.length) return undefined;
  return ["nano-agent", meant, action.name ?? [], rest.map(quoteShellArgument)].flat().join(" ");
}

/**
 * True for the name, or for it with a letter missing, added or swapped. A replaced letter makes another word.
 */
function isTypoOf(word: string, name: string): boolean {
  const sorted = (letters: string): string => [...letters].sort().join("");
  if (word === name || Math.abs(word.length - name.length) > 1) return word === name;
  const isNear = word.length === name.length ? sorted(word) === sorted(name) : word.length > 3;
  return isNear && editDistance(word, name) === 1;
}
