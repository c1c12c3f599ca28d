import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { variable } from "../../../app/config/env.ts";
import { existingFolder, userPaths } from "../../../app/config/paths.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { findTrustItems, type ProjectItems } from "../../../app/trust/find-trust-items.ts";
import { itemName } from "../../../app/trust/left-out-text.ts";
import { changeTrust, openTrustedProject, readTrust } from "../../../app/trust/trust-file.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { TrustItem } from "../../../permission/trust/trust-item.ts";
import type { TrustedProject } from "../../../permission/trust/trusted-project.ts";
import { askYes } from "../approval/ask-yes.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { isTerminal } from "../output.ts";
import { styleFor } from "../style.ts";
import { usageError } from "../usage-error.ts";
import { widthOf, wrapText } from "../wrap-text.ts";

/**
 * `nano-agent trust`: shows what the project of the working folder brings that can act, with what each would
 * do, and approves it once the person agrees (`--yes`: at once). `--list` names the folders something was
 * approved in, `--remove [FOLDER]` takes approval back. Approval holds for exactly this content in exactly
 * this folder. Exit 3 when there was something to approve and nobody did.
 */
export async function trust(context: CommandContext, call: CommandCall): Promise<number> {
  const given = (["--yes", "--list", "--remove"] as const).filter((option) => call.has(option));
  if (given.length > 1) throw usageError(`${given.join(" and ")} exclude each other. Leave one out.`);
  if (call.has("--list")) return list(context, call);
  return call.has("--remove") ? remove(context, call) : approve(context, call);
}

function list({ stdout, environment }: CommandContext, call: CommandCall): number {
  const record = readTrust(userPaths(environment));
  const rows = record.folders.map((folder) => ({ folder, items: [...record.contentsOf(folder).keys()] }));
  if (call.has("--json")) stdout.write(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0) stdout.write("No project is trusted with anything.\n");
  else
    for (const { folder, items } of rows)
      stdout.write(
        `${terminalLine(folder, 1_000)}\n${items.map((item) => `  ${terminalLine(item, 500)}\n`).join("")}`,
      );
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
  const { stdout, stderr, environment } = context;
  const json = call.has("--json");
  const yes = call.has("--yes");
  if (yes && variable(environment, "NANO_AGENT_CALL") !== undefined)
    throw usageError("nano-agent trust --yes is for people: an agent cannot approve for its user.");
  const paths = userPaths(environment);
  const project = await findTrustItems(existingFolder(call.words[0] ?? ".", "trust"), paths);
  const { folder, items } = project;
  const isOpen = openIn(openTrustedProject(folder, paths));
  const count = items.filter(isOpen).length;
  if (!json) stdout.write(textOf(project, { isOpen, width: widthOf(stdout, 1) }));
  const agreed = yes || json || count === 0 || (await isAgreed(context, count));
  if (!agreed) {
    const said = "nothing was approved. To approve all of it: nano-agent trust --yes";
    const lines = wrapText(said, { width: widthOf(stderr, 2), first: "nano-agent: ", rest: "  " });
    stderr.write(`${lines.join("\n")}\n`);
    return EXIT.refused;
  }
  if (count > 0 && (yes || !json)) {
    // What was shown is what is approved: the hashes are those of the contents that were read for it.
    await changeTrust(paths, (record) => record.approve(folder, items));
    if (!json) stdout.write("Approved. Whatever changes is asked about again.\n");
  }
  if (json) stdout.write(`${JSON.stringify(jsonOf(project, openIn(openTrustedProject(folder, paths))))}\n`);
  return EXIT.done;
}

function openIn(project: TrustedProject): (item: TrustItem) => boolean {
  return ({ kind, path, hash, blocked }) => blocked === undefined && !project.isTrusted(kind, path, hash);
}

async function isAgreed({ stderr, environment }: CommandContext, count: number): Promise<boolean> {
  if (!isTerminal(0) || !stderr.isTerminal) return false;
  const style = styleFor(stderr.isTerminal, environment);
  const what = count === 1 ? "this" : `these ${count}`;
  return askYes(style.bold(`Trust ${what} in this folder? [y] yes  [n] no `), stderr);
}

function textOf(
  { folder, items }: ProjectItems,
  { isOpen, width }: { readonly isOpen: (item: TrustItem) => boolean; readonly width: number | undefined },
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
