import {
  changeTrust,
  openTrustedProject,
  readTrust,
  type TrustedProject,
} from "../../../coding/project/acting-files.ts";
import { currentFolder, existingFolder, userPaths } from "../../../coding/settings/paths.ts";
import { findTrustItems, type ProjectItems } from "../../../coding/settings/settings.ts";
import { errorMessage, invalidArgument } from "../../../core/base/errors.ts";
import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import { describeDefaults } from "../../../permission/built-in-rules.ts";
import { variable } from "../../../system/env.ts";
import { EXIT } from "../../../view/exit-code.ts";
import type { LeftOut } from "../../../view/notice.ts";
import { itemName } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { confirmItems } from "../answer-questions.ts";
import type { CommandCall } from "../command-call.ts";
import {
  type CommandContext,
  factLines,
  loadLocalSettings,
  say,
  textLayoutOf,
  wrapText,
  writeResult,
} from "../command-context.ts";
import { inputLines, stdinKind } from "../prompt.ts";
import { checkLine } from "./check-lines.ts";

/**
 * `nano-agent permissions check COMMAND`: explains what the current rules of this folder decide about a
 * command line. Exit 3 if it would not run without a question. Without a command: reads JSON lines
 * `{ tool, input, rules?, defaults?, cwd?, workspace?, home?, mode?, sandbox? }` and answers each at once
 * with `{ decision, part?, rule?, reason, suggestion?, runs? }`, a malformed one with `{ error }` and, at the
 * end, exit 2. `nano-agent permissions defaults` lists the built-in rules.
 */
export async function permissions(call: CommandCall): Promise<number> {
  if (call.action === "defaults") {
    const rows = describeDefaults();
    return writeResult(call, rows, `${rows.join("\n")}\n`);
  }
  const [command] = call.words;
  if (command !== undefined) return checkCommand(call, command);
  if (stdinKind() === "terminal")
    throw invalidArgument(
      "permissions check needs a command in quotes: nano-agent permissions check 'npm test'.",
    );
  return checkInput(call);
}

const DECISIONS = { allow: "allowed", ask: "asks a person", deny: "refused" } as const;

async function checkCommand(call: CommandCall, command: string): Promise<number> {
  const { config, paths, cwd } = await loadLocalSettings(call);
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
  if ("error" in decided) throw invalidArgument(decided.error);
  const { decision, part, rule, reason, suggestion, runs } = decided;
  const lines = factLines(
    [
      ["command:", command],
      ["judged:", `without a sandbox, in mode ${permissionMode ?? "default"}`],
      ["decision:", DECISIONS[decision]],
      ["because of:", part === command ? undefined : part],
      ["rule:", rule],
      ["reason:", reason],
      ["runs:", runs],
      ["would allow it:", decision === "ask" ? suggestion : undefined],
    ],
    15,
  );
  writeResult(call, decided, `${lines.join("\n")}\n`);
  return decided.decision === "allow" ? EXIT.done : EXIT.refused;
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
    throw invalidArgument(`Standard input cannot be read: ${errorMessage(error)}. Pipe JSON lines.`, {
      cause: error,
    });
  }
  return malformed === 0 ? EXIT.done : EXIT.usage;
}

/**
 * `nano-agent trust`: shows everything in the project of the working directory that can act, with its
 * effects, and approves it once the person agrees (`--yes`: at once). `--list` names the folders with
 * approvals, `--remove [FOLDER]` withdraws approval. Approval covers exactly this content in exactly this
 * folder. Exit 3 if something was left unapproved.
 */
export async function trust(call: CommandCall): Promise<number> {
  const actions = (["--yes", "--list", "--remove"] as const).filter((option) => call.has(option));
  if (actions.length > 1)
    throw invalidArgument(`${actions.join(" and ")} exclude each other. Leave one out.`);
  if (call.has("--list")) return list(call);
  return call.has("--remove") ? remove(call) : approve(call);
}

function list(call: CommandCall): number {
  const record = readTrust(userPaths(call.environment));
  const rows = [...record].map(([folder, contents]) => ({ folder, items: [...contents.keys()] }));
  const lines = rows.flatMap(({ folder, items }) => [
    terminalLine(folder, 1_000),
    ...items.map((item) => `  ${terminalLine(item, 500)}`),
  ]);
  if (lines.length === 0) lines.push("No project is trusted with anything.");
  return writeResult(call, rows, `${lines.join("\n")}\n`);
}

async function remove({ stdout, environment, words }: CommandCall): Promise<number> {
  const [folder] = words;
  const paths = userPaths(environment);
  // A deleted folder can still be named as listed.
  const known = readTrust(paths);
  const target =
    folder !== undefined && known.has(folder)
      ? folder
      : (await findTrustItems(existingFolder(folder ?? ".", "--remove"), paths)).folder;
  if (!known.has(target)) {
    stdout.write(`${terminalLine(target, 1_000)} is not trusted with anything.\n`);
    return EXIT.done;
  }
  await changeTrust(paths, target, [], { keeps: false });
  stdout.write(`${terminalLine(target, 1_000)} is no longer trusted with anything.\n`);
  return EXIT.done;
}

async function approve(call: CommandCall): Promise<number> {
  const { stdout, environment } = call;
  const [json, yes] = [call.has("--json"), call.has("--yes")];
  if (yes && variable(environment, "NANO_AGENT_CALL") !== undefined)
    throw invalidArgument("nano-agent trust --yes is for people: an agent cannot approve for its user.");
  const paths = userPaths(environment);
  const project = await findTrustItems(existingFolder(call.words[0] ?? ".", "trust"), paths);
  const { folder, items } = project;
  const isOpen = isOpenIn(openTrustedProject(folder, paths));
  const count = items.filter(isOpen).length;
  if (!json) stdout.write(textOf(project, isOpen, textLayoutOf(call).width));
  const agreed = yes || json || count === 0 || (await confirmItems(call, count, "Trust {} in this folder?"));
  if (!agreed) {
    say(call, "nothing was approved. To approve all of it: nano-agent trust --yes");
    return EXIT.refused;
  }
  if (count > 0 && (yes || !json)) {
    // Approves exactly the contents shown: the hashes are of the texts read for display.
    await changeTrust(paths, folder, items, { keeps: false });
    if (!json) stdout.write("Approved. Whatever changes is asked about again.\n");
  }
  if (json) stdout.write(`${JSON.stringify(jsonOf(project, isOpenIn(openTrustedProject(folder, paths))))}\n`);
  return EXIT.done;
}

function isOpenIn(project: TrustedProject): (item: LeftOut) => boolean {
  return (item) => item.blocked === undefined && !project.isTrusted(item);
}

function textOf(
  { folder, items }: ProjectItems,
  isOpen: (item: LeftOut) => boolean,
  width: number | undefined,
): string {
  const place = terminalLine(folder, 1_000);
  if (items.length === 0)
    return `${wrapText(`${place} brings nothing that can act.`, { width }).join("\n")}\n`;
  const lines = items.flatMap((item) => {
    const state =
      item.blocked === undefined ? (isOpen(item) ? "not trusted" : "trusted") : `never: ${item.blocked}`;
    const name = `${terminalLine(itemName(item), 300)}  (${terminalLine(state, 200)})`;
    return [
      ...wrapText(name, { width, first: "  ", rest: "    " }),
      ...wrapText(terminalLine(revealInvisible(item.does), 4_000), { width, first: "      " }),
    ];
  });
  return `${[...wrapText(`${place} brings what can act:`, { width }), ...lines].join("\n")}\n`;
}

function jsonOf({ folder, items }: ProjectItems, isOpen: (item: LeftOut) => boolean): object {
  return {
    folder,
    items: items.map((item) => ({ ...item, trusted: item.blocked === undefined && !isOpen(item) })),
  };
}
