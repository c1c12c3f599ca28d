import { withHiddenShown } from "../permission/hidden-characters.ts";
import type { TrustItem } from "../permission/trusted-project.ts";

/** The name of an item, for people: `.mcp.json: MCP server db`. */
export function itemName({ kind, path }: Pick<TrustItem, "kind" | "path">): string {
  const [file = "", ...name] = path.split("#");
  const what = { config: "", mcp_server: "MCP server " }[kind as string] ?? `${kind} `;
  return withHiddenShown(name.length === 0 ? `${what}${file}` : `${file}: ${what}${name.join("#")}`);
}

/** The parts left out of a project that is not trusted, in one line; each file is named once. */
export function leftOutText(items: readonly Pick<TrustItem, "kind" | "path">[]): string {
  const files = new Map<string, string>();
  for (const item of items.slice(0, MAX_NAMES)) {
    const [file = ""] = item.path.split("#");
    const [before, name] = [files.get(file), itemName(item)];
    files.set(
      file,
      before === undefined ? name : `${before}, ${name.replace(`${withHiddenShown(file)}: `, "")}`,
    );
  }
  const more = items.length > MAX_NAMES ? ` and ${items.length - MAX_NAMES} more` : "";
  return `left out, because this project is not trusted with it: ${[...files.values()].join("; ")}${more}. See what each would do, and approve it, with: nano-agent trust`;
}

/** Enough for everything that settings can say. */
const MAX_NAMES = 60;
