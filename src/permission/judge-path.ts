import { secretInWord, secretPattern } from "./built-in-rules.ts";
import type { JudgedPath, PathSpace } from "./path-space.ts";
import { isEditTool } from "./rule.ts";
import type { JudgedCall, RuleSet } from "./rule-set.ts";
import { byRule, noRule, notJudged, secretVerdict, shown, type Verdict } from "./verdict.ts";

/** Judges a call of `read`, `grep`, `glob`, `write` or `edit` by the places it would open. */
export function judgePath(call: JudgedCall, target: JudgedPath | undefined): Verdict {
  const { tool, input, rules, space } = call;
  if (target === undefined) {
    const rule = rules.whole("deny", tool);
    return rule === undefined ? oddCall(`The call of ${tool} names no path.`, tool) : byRule(rule, tool);
  }
  const { pattern } = input;
  const start = tool === "glob" && typeof pattern === "string" ? globStart(pattern) : "";
  const paths = start === "" ? [target] : [target, space.path(start, target.resolved)];
  for (const path of paths) {
    const rule = rules.againstPath("deny", tool, path, space);
    if (rule !== undefined) return byRule(rule, path.given);
  }
  const verdicts = [
    ...paths.map((path) => questionAbout(call, path) ?? PASSED),
    ...paths.map((path) => judged(call, path)),
  ];
  return verdicts.find(({ decision }) => decision !== "allow") ?? verdicts[paths.length] ?? PASSED;
}

const PASSED: Verdict = { decision: "allow", reason: "Nothing speaks against it." };

/** A mode without questions reads what cannot be judged, and writes nothing of that kind. */
function oddCall(reason: string, tool: string, part?: string): Verdict {
  return { ...notJudged(reason, part), ...(isEditTool(tool) ? { isFirm: true } : {}) };
}

/** The question that is asked whatever rules allow. */
function questionAbout(call: JudgedCall, path: JudgedPath): Verdict | undefined {
  const { tool, rules, space, defaults, input } = call;
  const part = path.given;
  if (path.odd !== undefined) return oddCall(`${shown(part)} is not a plain path: ${path.odd}.`, tool, part);
  if (isEditTool(tool) && space.isProtected(path)) {
    const reason = `${shown(part)} steers git, an editor or nano-agent: writing there is always asked about.`;
    return { decision: "ask", part, reason, code: "protected_path", isFirm: true };
  }
  const rule = rules.againstPath("ask", tool, path, space);
  if (rule !== undefined) return byRule(rule, part);
  const glob = tool === "glob" ? input["pattern"] : tool === "grep" ? input["glob"] : undefined;
  const secret =
    [path.resolved, ...path.written].map(secretPattern).find((found) => found !== undefined) ??
    (typeof glob === "string" ? secretInWord(glob) : undefined);
  if (secret === undefined || (!defaults && rules.forPath(tool, path, space) !== undefined)) return undefined;
  return secretVerdict(part, secret, "may hold keys");
}

function judged({ tool, rules, space, mode }: JudgedCall, path: JudgedPath): Verdict {
  const { given: part, resolved } = path;
  const rule = rules.forPath(tool, path, space);
  if (rule !== undefined) return byRule(rule, part);
  const suggestion = ruleFor(tool, path, space);
  if (!space.isInside(resolved)) {
    const reason = `${shown(part)} leads to ${shown(resolved)}, outside the workspace: only a rule with an absolute or home path allows that.`;
    return noRule(reason, part, suggestion);
  }
  const inside = `${shown(part)} is inside the workspace, and`;
  if (!isEditTool(tool)) return { decision: "allow", part, reason: `${inside} ${tool} only reads.` };
  if (mode === "acceptEdits" || mode === "auto")
    return { decision: "allow", part, reason: `${inside} edits there are accepted.` };
  const [place = resolved] = space.insideForms(resolved);
  const isLink = !path.written.some((form) => space.insideForms(form).includes(place));
  const leads = isLink ? `${shown(part)} leads to ${shown(place)}. ` : "";
  return noRule(`${leads}No rule allows ${tool} on ${shown(part)}.`, part, suggestion);
}

/** The narrowest rule for a path; none where that would describe others, or be none. */
function ruleFor(tool: string, { resolved }: JudgedPath, space: PathSpace): string | undefined {
  const [form = resolved] = space.insideForms(resolved);
  const plain = form.startsWith("~") ? resolved : form;
  return plain.includes("*") || plain.trim() === "" ? undefined : `${tool}(${plain})`;
}

/** The folder a file pattern starts from or climbs to: `../x/*` leads out as a path would. */
function globStart(pattern: string): string {
  // Braces can spell out what a plain look would miss: every `..`, root and home inside a group counts.
  // Three dots are none: `app/[...slug]/page.tsx`.
  if (/(?<!\.)\.\.(?!\.)/.test(pattern) || /[{,(|]\s*[/\\~]/.test(pattern)) return "/";
  const [fixed = ""] = pattern.split(/[*?[{(!]/, 1);
  return /^[/~]/.test(fixed)
    ? fixed.slice(0, Math.max(fixed.lastIndexOf("/"), 1))
    : fixed.replace(/\/?[^/]*$/, "");
}

const TOOL = "web_fetch";

/** Judges `web_fetch` by the host of its address. Deny and ask rules also cover the hosts below one. */
export function judgeUrl(url: unknown, rules: RuleSet): Verdict {
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
