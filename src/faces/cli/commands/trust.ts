import { findTrustItems, type ProjectItems } from "../../../coding/project/find-trust-items.ts";
import { changeTrust, openTrustedProject, readTrust } from "../../../coding/project/trust-file.ts";
import { existingFolder, userPaths } from "../../../coding/settings/paths.ts";
import { misuse } from "../../../core/base/errors.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { TrustedProject, TrustItem } from "../../../permission/trusted-project.ts";
import { variable } from "../../../system/env.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { itemName } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { agrees } from "../answer-questions.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, lookOf, say } from "../command-context.ts";
import { wrapText } from "../wrap-text.ts";

/**
 * `nano-agent trust`: shows what the project of the working folder brings that can act, with what each would
 * do, and approves it once the person agrees (`--yes`: at once). `--list` names the folders something was
 * approved in, `--remove [FOLDER]` takes approval back. Approval holds for exactly this content in exactly
 * this folder. Exit 3 when there was something to approve and nobody did.
 */
export async function trust(context: CommandContext, call: CommandCall): Promise<number> {
  const given = (["--yes", "--list", "--remove"] as const).filter((option) => call.has(option));
  if (given.length > 1) throw misuse(`${given.join(" and ")} exclude each other. Leave one out.`);
  if (call.has("--list")) return list(context, call);
  return call.has("--remove") ? remove(context, call) : approve(context, call);
}

function list(context: CommandContext, call: CommandCall): number {
  const record = readTrust(userPaths(context.environment));
  const rows = record.folders.map((folder) => ({ folder, items: [...record.contentsOf(folder).keys()] }));
  const lines = rows.flatMap(({ folder, items }) => [
    terminalLine(folder, 1_000),
    ...items.map((item) => `  ${terminalLine(item, 500)}`),
  ]);
  if (lines.length === 0) lines.push("No project is trusted with anything.");
  answer(context, call, { json: () => rows, text: () => `${lines.join("\n")}\n` });
  return EXIT.done;
}

async function remove({ stdout, environment }: CommandContext, { words }: CommandCall): Promise<number> {
  const [folder] = words;
  const paths = userPaths(environment);
  // A folder that is gone can still be named as it is listed.
  const known = readTrust(paths).folders;
  const wanted =
    folder !== undefined && known.includes(folder)
      ? folder
      : (await findTrustItems(existingFolder(folder ?? ".", "--remove"), paths)).folder;
  if (!known.includes(wanted)) {
    stdout.write(`${terminalLine(wanted, 1_000)} is not trusted with anything.\n`);
    return EXIT.done;
  }
  await changeTrust(paths, (record) => record.remove(wanted));
  stdout.write(`${terminalLine(wanted, 1_000)} is no longer trusted with anything.\n`);
  return EXIT.done;
}

async function approve(context: CommandContext, call: CommandCall): Promise<number> {
  const { stdout, environment } = context;
  const [json, yes] = [call.has("--json"), call.has("--yes")];
  if (yes && variable(environment, "NANO_AGENT_CALL") !== undefined)
    throw misuse("nano-agent trust --yes is for people: an agent cannot approve for its user.");
  const paths = userPaths(environment);
  const project = await findTrustItems(existingFolder(call.words[0] ?? ".", "trust"), paths);
  const { folder, items } = project;
  const isOpen = openIn(openTrustedProject(folder, paths));
  const count = items.filter(isOpen).length;
  if (!json) stdout.write(textOf(project, isOpen, lookOf(context).width));
  const agreed = yes || json || count === 0 || (await agrees(context, count, "Trust {} in this folder?"));
  if (!agreed) {
    say(context, "nothing was approved. To approve all of it: nano-agent trust --yes");
    return EXIT.refused;
  }
  if (count > 0 && (yes || !json)) {
    // The contents that were shown are those that are approved: the hashes are of the texts read for it.
    await changeTrust(paths, (record) => record.approve(folder, items));
    if (!json) stdout.write("Approved. Whatever changes is asked about again.\n");
  }
  if (json) stdout.write(`${JSON.stringify(jsonOf(project, openIn(openTrustedProject(folder, paths))))}\n`);
  return EXIT.done;
}

function openIn(project: TrustedProject): (item: TrustItem) => boolean {
  return ({ kind, path, hash, blocked }) => blocked === undefined && !project.isTrusted(kind, path, hash);
}

function textOf(
  { folder, items }: ProjectItems,
  isOpen: (item: TrustItem) => boolean,
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
      ...wrapText(terminalLine(withHiddenShown(item.does), 4_000), { width, first: "      " }),
    ];
  });
  return `${[...wrapText(`${place} brings what can act:`, { width }), ...lines].join("\n")}\n`;
}

function jsonOf({ folder, items }: ProjectItems, isOpen: (item: TrustItem) => boolean): object {
  return {
    folder,
    items: items.map((item) => ({ ...item, trusted: item.blocked === undefined && !isOpen(item) })),
  };
}
