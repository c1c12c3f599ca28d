import { defined } from "../core/base/defined.ts";
import type { RuleSet } from "./rule-set.ts";
import { byRule, notJudged, shown, type Verdict } from "./verdict.ts";

const TOOL = "web_fetch";

/** Judges `web_fetch` by the host of its address. Deny and ask rules also cover the hosts below one. */
export function judgeUrl(input: Readonly<Record<string, unknown>>, rules: RuleSet): Verdict {
  const url = input["url"];
  const host = typeof url === "string" ? hostOf(url) : undefined;
  const part = host ?? (typeof url === "string" ? url : TOOL);
  for (const action of ["deny", "ask"] as const) {
    const rule = rules
      .forTool(action, TOOL)
      .find(({ pattern }) => pattern === undefined || (host !== undefined && isHost(pattern, host, true)));
    if (rule !== undefined) return byRule(rule, part);
  }
  if (host === undefined) return notJudged(`${shown(part)} is not an address of a web page.`, part);
  const rule = rules
    .forTool("allow", TOOL)
    .find(({ pattern }) => pattern === undefined || isHost(pattern, host, false));
  if (rule !== undefined) return byRule(rule, part);
  // A star in a rule stands for any text.
  const suggestion = host.includes("*") ? undefined : `${TOOL}(domain:${host})`;
  return {
    decision: "ask",
    part,
    reason: `No rule allows to fetch pages from ${shown(host)}.`,
    code: "no_rule",
    ...defined({ suggestion }),
  };
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password } = new URL(url);
  if ((protocol !== "http:" && protocol !== "https:") || username !== "" || password !== "") return undefined;
  return hostname.replace(/\.+$/, "");
}

function isHost(pattern: string, host: string, generous: boolean): boolean {
  const wanted = pattern.slice("domain:".length).toLowerCase().replace(/\.+$/, "");
  if (wanted === "*") return true;
  const below = wanted.startsWith("*.") ? wanted.slice(1) : `.${wanted}`;
  if (host.endsWith(below) && (generous || wanted.startsWith("*."))) return true;
  return host === wanted || (generous && host === below.slice(1));
}
