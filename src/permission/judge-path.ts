import { defined } from "../core/base/defined.ts";
import type { JudgedPath, PathSpace } from "./paths/path-space.ts";
import type { PermissionMode } from "./permission-mode.ts";
import type { RuleSet } from "./rule-set.ts";
import { secretInWord, secretPattern } from "./secret-files.ts";
import { isEditTool } from "./tool-names.ts";
import { byRule, notJudged, secretVerdict, shown, type Verdict } from "./verdict.ts";

/** A call of a tool for files, and what it is judged by. */
export interface PathCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly rules: RuleSet;
  readonly space: PathSpace;
  readonly mode: PermissionMode;
  readonly defaults: boolean;
}

/** Judges a call of `read`, `grep`, `glob`, `write` or `edit` by the places it would open. */
export function judgePath(call: PathCall): Verdict {
  const { tool, rules, space } = call;
  const paths = targetsOf(call);
  if (typeof paths === "string") {
    const rule = rules.whole("deny", tool);
    return rule === undefined ? { ...notJudged(paths), ...firmFor(tool) } : byRule(rule, tool);
  }
  for (const path of paths) {
    const rule = rules.againstPath("deny", tool, { path, space });
    if (rule !== undefined) return byRule(rule, path.given);
  }
  for (const path of paths) {
    const verdict = asked(call, path);
    if (verdict !== undefined) return verdict;
  }
  const verdicts = paths.map((path) => judged(call, path));
  return (
    verdicts.find(({ decision }) => decision !== "allow") ??
    verdicts[0] ??
    notJudged("The call names no path.")
  );
}

/** A mode without questions reads what cannot be judged, and writes nothing of that kind. */
function firmFor(tool: string): Pick<Verdict, "isFirm"> {
  return isEditTool(tool) ? { isFirm: true } : {};
}

/** The question that is asked whatever rules allow. */
function asked({ tool, rules, space, defaults, input }: PathCall, path: JudgedPath): Verdict | undefined {
  const part = path.given;
  if (path.odd !== undefined) {
    const reason = `${shown(part)} is not a plain path: ${path.odd}.`;
    return { ...notJudged(reason, part), ...firmFor(tool) };
  }
  if (isEditTool(tool) && space.isProtected(path)) {
    const reason = `${shown(part)} steers git, an editor or nano-agent: writing there is always asked about.`;
    return { decision: "ask", part, reason, code: "protected_path", isFirm: true };
  }
  const rule = rules.againstPath("ask", tool, { path, space });
  if (rule !== undefined) return byRule(rule, part);
  const glob = tool === "glob" ? input["pattern"] : tool === "grep" ? input["glob"] : undefined;
  const secret =
    [path.resolved, ...path.written].map(secretPattern).find((found) => found !== undefined) ??
    (typeof glob === "string" ? secretInWord(glob) : undefined);
  if (secret === undefined) return undefined;
  if (!defaults && rules.forPath(tool, { path, space }) !== undefined) return undefined;
  return secretVerdict(part, secret, "may hold keys");
}

function judged({ tool, rules, space, mode }: PathCall, path: JudgedPath): Verdict {
  const part = path.given;
  const isEdit = isEditTool(tool);
  const rule = rules.forPath(tool, { path, space });
  if (rule !== undefined) return byRule(rule, part);
  const suggestion = ruleFor(tool, path, space);
  const own = { decision: "ask", part, code: "no_rule", ...defined({ suggestion }) } as const;
  if (!space.isInside(path.resolved)) {
    const reason = `${shown(part)} leads to ${shown(path.resolved)}, outside the workspace: only a rule with an absolute or home path allows that.`;
    return { ...own, reason };
  }
  const within = `${shown(part)} is inside the workspace, and`;
  if (!isEdit) return { decision: "allow", part, reason: `${within} ${tool} only reads.` };
  if (mode === "acceptEdits" || mode === "auto")
    return { decision: "allow", part, reason: `${within} edits there are accepted.` };
  const place = space.insideForms(path.resolved);
  const isLink = !path.written.some((form) => space.insideForms(form).some((each) => place.includes(each)));
  const leads = isLink ? `${shown(part)} leads to ${shown(place[0] ?? path.resolved)}. ` : "";
  return { ...own, reason: `${leads}No rule allows ${tool} on ${shown(part)}.` };
}

/** The narrowest rule for a path; none where that would describe others, or be none. */
function ruleFor(tool: string, { resolved }: JudgedPath, space: PathSpace): string | undefined {
  const [form = resolved] = space.isInside(resolved) ? space.insideForms(resolved) : [];
  const plain = form.startsWith("~") ? resolved : form;
  return plain.includes("*") || plain.trim() === "" ? undefined : `${tool}(${plain})`;
}

/** The places a call works in, or why they cannot be told. */
function targetsOf({ tool, input, space }: PathCall): readonly JudgedPath[] | string {
  const path = input["path"];
  const optional = tool === "grep" || tool === "glob";
  if (path === undefined && !optional) return `The call of ${tool} names no path.`;
  if (path !== undefined && typeof path !== "string") return `The path of ${tool} is not a text.`;
  const folder = space.path(path === undefined || (optional && path === "") ? "." : path);
  const pattern = tool === "glob" ? input["pattern"] : undefined;
  if (typeof pattern !== "string") return [folder];
  return [folder, ...globTargets(pattern).map((part) => space.path(part, folder.resolved))];
}

/** Folders a file pattern starts from or climbs to: `../x/*` leads out of the workspace as a path would. */
function globTargets(pattern: string): readonly string[] {
  // Braces can spell out what a plain look would miss: every `..`, root and home inside a group counts.
  // Three dots are none: `app/[...slug]/page.tsx`.
  if (/(?<!\.)\.\.(?!\.)/.test(pattern) || /[{,(|]\s*[/\\~]/.test(pattern)) return ["/"];
  const fixed = pattern.split(/[*?[{(!]/, 1)[0] ?? "";
  const end = fixed.lastIndexOf("/");
  return end <= 0 && !fixed.startsWith("/") && !fixed.startsWith("~")
    ? []
    : [fixed.slice(0, Math.max(end, 1))];
}
