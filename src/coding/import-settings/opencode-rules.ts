import { type Fields, isRecord, ownValue } from "../../core/base/json.ts";
import { serverParts } from "../../extensions/mcp/tool-name.ts";
import type { RuleAction } from "../../permission/rule.ts";
import { patternKind } from "../../permission/tool-names.ts";

/** The meaning of a permission of opencode here: rules, or why there are none. */
export type OpenCodeRule =
  | { readonly action: RuleAction; readonly rules: readonly string[] }
  | { readonly what: string; readonly why: string };

const ACTIONS: ReadonlySet<unknown> = new Set(["allow", "ask", "deny"]);

/** The permissions of a settings file of opencode, the tools that it switches off among them. */
export function readOpenCodeRules({ permission, tools, mcp }: Fields): readonly OpenCodeRule[] {
  const servers = Object.keys(isRecord(mcp) ? mcp : {});
  if (typeof permission === "string") return [ruleOf("*", undefined, { action: permission, servers })];
  const off = Object.entries(isRecord(tools) ? tools : {})
    .filter(([, isOn]) => isOn === false)
    .map(([tool]) => ruleOf(tool, undefined, { action: "deny", servers }));
  const given = Object.entries(isRecord(permission) ? permission : {}).flatMap(([tool, value]) =>
    isRecord(value)
      ? Object.entries(value).map(([pattern, action]) => ruleOf(tool, pattern, { action, servers }))
      : [ruleOf(tool, undefined, { action: value, servers })],
  );
  return [...off, ...given];
}

interface RuleFacts {
  readonly action: unknown;
  readonly servers: readonly string[];
}

function ruleOf(given: string, pattern: string | undefined, { action, servers }: RuleFacts): OpenCodeRule {
  const what = `permission: ${pattern === undefined ? given : `${given}(${pattern})`}`;
  if (!isAction(action)) return { what, why: `${JSON.stringify(action)} is not one of allow, ask and deny` };
  if (given === "*" && action === "allow")
    return { what, why: "say it for each run with --permission-mode bypassPermissions" };
  const tool = toolOf(given, servers);
  if (tool === undefined) return { what, why: `there is no tool ${given} here` };
  if (pattern === undefined || pattern === "*") return { action, rules: [tool] };
  if (patternKind(tool) !== "path" || action === "allow") return { action, rules: [`${tool}(${pattern})`] };
  const paths = acrossFolders(pattern);
  if (paths === undefined) return { what, why: `write it as ${tool}(…) under permissions` };
  return { action, rules: paths.map((path) => `${tool}(${path})`) };
}

function isAction(action: unknown): action is RuleAction {
  return ACTIONS.has(action);
}

const OWN_TOOLS: ReadonlySet<string> = new Set([
  "bash",
  "read",
  "write",
  "edit",
  "glob",
  "grep",
  "task",
  "skill",
  "*",
]);
const SAME_TOOLS: { readonly [name: string]: string | undefined } = {
  webfetch: "web_fetch",
  todowrite: "todo",
  patch: "edit",
  list: "glob",
};

/** The tool of that name here. Those of a server are called `server_tool` there. */
function toolOf(given: string, servers: readonly string[]): string | undefined {
  if (OWN_TOOLS.has(given)) return given;
  const same = ownValue(SAME_TOOLS, given);
  if (same !== undefined) return same;
  const server = servers.find((name) => given.startsWith(`${name}_`));
  const part = server === undefined ? undefined : serverParts(servers).get(server);
  return server === undefined || part === undefined
    ? undefined
    : `mcp__${part}__${given.slice(server.length + 1)}`;
}

/** Ways to write a pattern whose stars can be written in two ways each. */
const MAX_STARS = 5;

/** A pattern whose `*` crosses folders, in ours, where it does not; `undefined` where none is the same. */
function acrossFolders(pattern: string): readonly string[] | undefined {
  const parts = pattern.split(/\*+/);
  if (/[[\]{}!\\]/.test(pattern) || parts.length - 1 > MAX_STARS) return undefined;
  return parts.slice(1).reduce<readonly string[]>(
    (forms, part, index) => {
      const before = parts[index] ?? "";
      const begins = before.endsWith("/") || (before === "" && index === 0);
      const ends = part.startsWith("/") || (part === "" && index === parts.length - 2);
      return forms.flatMap((form) => starsBetween(begins, ends).map((stars) => `${form}${stars}${part}`));
    },
    [parts[0] ?? ""],
  );
}

function starsBetween(begins: boolean, ends: boolean): readonly string[] {
  if (begins) return [ends ? "**" : "**/*"];
  return ends ? ["*", "*/**"] : ["*", "*/**/*"];
}
