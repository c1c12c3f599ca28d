import type { RuleSet } from "./rule-set.ts";
import { byRule, noRule, notJudged, shown, type Verdict } from "./verdict.ts";

const TOOL = "web_fetch";

/** Judges `web_fetch` by the host of its address. Deny and ask rules also cover the hosts below one. */
export function judgeUrl({ url }: { readonly [name: string]: unknown }, rules: RuleSet): Verdict {
  const text = typeof url === "string" ? url : "";
  const host = hostOf(text);
  const part = host ?? text;
  for (const action of ["deny", "ask", "allow"] as const) {
    if (action === "allow" && host === undefined)
      return notJudged(`${shown(part)} is not an address of a web page.`, part);
    const rule = rules
      .forTool(action, TOOL)
      .find(({ pattern }) => pattern === undefined || isHost(pattern, host, action !== "allow"));
    if (rule !== undefined) return byRule(rule, part);
  }
  // A star in a rule stands for any text.
  const suggestion = part.includes("*") ? undefined : `${TOOL}(domain:${part})`;
  return noRule(`No rule allows to fetch pages from ${shown(part)}.`, part, suggestion);
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password } = new URL(url);
  if ((protocol !== "http:" && protocol !== "https:") || username !== "" || password !== "") return undefined;
  return hostname.replace(/\.+$/, "");
}

/** True when `domain:HOST` describes a host, `domain:*.HOST` those below it. Wide: both describe both. */
function isHost(pattern: string, host: string | undefined, isWide: boolean): boolean {
  const wanted = pattern.slice("domain:".length).toLowerCase().replace(/\.+$/, "");
  if (host === undefined || wanted === "*") return host !== undefined;
  const name = wanted.replace(/^\*\./, "");
  const isBelow = host.endsWith(`.${name}`) && (isWide || name !== wanted);
  return isBelow || (host === name && (isWide || name === wanted));
}
