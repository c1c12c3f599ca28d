import { revealInvisible } from "../core/base/hidden-characters.ts";
import type { ModelReason } from "../providers/model-choice.ts";
import type { RepairReport } from "../session/repair-report.ts";
import type { LeftOut, Notice } from "./notice.ts";

/** A notice in one line for people, not yet made safe for a terminal. */
export function noticeText(notice: Notice): string {
  switch (notice.code) {
    case "model_chosen":
      return `model ${notice.model}, because ${notice.source === undefined ? REASONS[notice.why] : `of ${notice.source}`}`;
    case "untrusted":
      return untrustedText(notice.items);
    case "wide_folder":
      return `${notice.folder} is your home folder or holds it: the agent may look at everything in it, and undo covers only its outer folders. Start it in the folder of a project, or name one with --cwd.`;
    case "repaired":
      return repairText(notice.repairs, notice.path);
    default:
      return notice.message;
  }
}

const REASONS: { readonly [W in ModelReason]: string } = {
  flag: "it was asked for",
  environment: "of NANO_AGENT_MODEL",
  config: "of the configuration",
  key: "of the key that is set",
  local: "of a local server",
  resumed: "the session was working with it",
};

/** The repairs made to continue the session, in one line. */
function repairText({ damaged, droppedResults, interrupted }: RepairReport, path: string): string {
  const parts = [
    list(
      damaged,
      (count) =>
        `${count} damaged ${count === 1 ? "place" : "places"}, left as ${count === 1 ? "it is" : "they are"}`,
      ({ line, reason }) => `line ${line}: ${reason}`,
    ),
    list(
      droppedResults,
      (count) => `${count} tool ${count === 1 ? "result" : "results"} left out, whose call is gone`,
      (id) => id,
    ),
    list(
      interrupted,
      (count) => `${count} tool ${count === 1 ? "call was" : "calls were"} interrupted`,
      ({ name, outcome }) => (outcome === "unknown" ? `${name}, outcome unknown` : `${name}, never ran`),
    ),
  ].filter((part) => part !== "");
  return `The session was repaired so that it can continue (${path}): ${parts.join("; ")}.`;
}

const MAX_LISTED = 5;

function list<T>(items: readonly T[], head: (count: number) => string, show: (item: T) => string): string {
  if (items.length === 0) return "";
  const shown = items.slice(0, MAX_LISTED).map(show);
  if (items.length > MAX_LISTED) shown.push("…");
  return `${head(items.length)} (${shown.join(", ")})`;
}

/** The name of an item for people: `.mcp.json: MCP server db`. */
export function itemName({ kind, path }: Pick<LeftOut, "kind" | "path">): string {
  const [file = "", ...name] = path.split("#");
  const what = { config: "", mcp_server: "MCP server " }[kind as string] ?? `${kind} `;
  return revealInvisible(name.length === 0 ? `${what}${file}` : `${file}: ${what}${name.join("#")}`);
}

/** The parts left out of an untrusted project, in one line; each file is named once. */
export function untrustedText(items: readonly Pick<LeftOut, "kind" | "path">[]): string {
  const files = new Map<string, string>();
  for (const item of items.slice(0, MAX_NAMES)) {
    const [file = ""] = item.path.split("#");
    const [before, name] = [files.get(file), itemName(item)];
    files.set(
      file,
      before === undefined ? name : `${before}, ${name.replace(`${revealInvisible(file)}: `, "")}`,
    );
  }
  const more = items.length > MAX_NAMES ? ` and ${items.length - MAX_NAMES} more` : "";
  return `left out, because this project is not trusted with it: ${[...files.values()].join("; ")}${more}. See what each would do, and approve it, with: nano-agent trust`;
}

/** Enough for everything that settings can contain. */
const MAX_NAMES = 60;
