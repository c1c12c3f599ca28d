import { withHiddenShown } from "../../permission/hidden-characters.ts";
import type { TrustItem } from "../../permission/trust/trust-item.ts";

/** The name of an item, for people: `.mcp.json: MCP server db`. */
export function itemName({ kind, path }: Pick<TrustItem, "kind" | "path">): string {
  const [file = "", ...rest] = path.split("#");
  const name = rest.join("#");
  return withHiddenShown(name === "" ? `${KINDS[kind]} ${file}` : `${file}: ${KINDS[kind]}${name}`);
}

const KINDS = {
  config: "",
  hook: "hook ",
  mcp_server: "MCP server ",
  skill: "skill",
  agent: "agent",
  command: "command",
  extension: "extensions",
} as const;

/** The parts left out of a project that is not trusted, in one line. */
export function leftOutText(items: readonly Pick<TrustItem, "kind" | "path">[]): string {
  const names: string[] = [];
  let file = "";
  for (const item of items.slice(0, MAX_NAMES)) {
    const name = itemName(item);
    const isSame = file !== "" && name.startsWith(`${file}: `);
    // A file is named once, with all that was left out of it.
    if (isSame) names.push(`${names.pop() ?? ""}, ${name.slice(file.length + 2)}`);
    else names.push(name);
    file = withHiddenShown(item.path.split("#")[0] ?? "");
  }
  const more = items.length > MAX_NAMES ? ` and ${items.length - MAX_NAMES} more` : "";
  return `left out, because this project is not trusted with it: ${names.join("; ")}${more}. See what each would do, and approve it, with: nano-agent trust`;
}

/** Enough for all that settings can say; a project that brings a thousand servers is cut. */
const MAX_NAMES = 60;
