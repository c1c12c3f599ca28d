import { dirname, join, relative, sep } from "node:path";
import type { Gate, GateDecision, GateRequest } from "../core/agent/gate.ts";
import { resolvePath } from "../tools/resolve-path.ts";
import type { PermissionMode } from "./config/permission-mode.ts";

/** What a {@link ModeGate} decides by. */
export interface ModeGateOptions {
  readonly mode: PermissionMode;
  /** Tools that may run without a question, inside the workspace. */
  readonly allowedTools: ReadonlySet<string>;
  /** Tools that never run. */
  readonly disallowedTools: ReadonlySet<string>;
  /** Folders tools may work in, the working folder first. */
  readonly workspace: readonly string[];
  /** What `~` stands for. */
  readonly home: string;
}

/**
 * Decides by permission mode and tool name: deny before allow, and everything that is neither is asked. Paths are judged where they
 * lead on disk, links followed. Tools that only pass calls on (`batch`) run; each call inside comes here by itself.
 */
export class ModeGate implements Gate {
  readonly #options: ModeGateOptions;
  readonly #workspace: readonly string[];

  constructor(options: ModeGateOptions) {
    this.#options = options;
    this.#workspace = options.workspace.map((folder) =>
      resolvePath(folder, { cwd: folder, home: options.home }),
    );
  }

  check(request: GateRequest): GateDecision {
    const { mode, disallowedTools } = this.#options;
    const { name } = request;
    if (disallowedTools.has(name))
      return { action: "deny", reason: `${name} is switched off`, rule: `--disallowed-tools ${name}` };
    if (mode === "bypassPermissions") return { action: "allow" };
    const decision = this.#decide(request);
    if (decision.action !== "ask" || mode !== "dontAsk") return decision;
    return { ...decision, action: "deny" };
  }

  #decide(request: GateRequest): GateDecision {
    const { mode, allowedTools } = this.#options;
    const { name, tool } = request;
    if (name === "batch") return { action: "allow" };
    const kind = kindOf(name, tool.readOnly === true);
    const targets = this.#targets(request);
    const outside = targets.find((target) => !this.#isInside(target));
    if (mode === "plan" && kind !== "read")
      return { action: "deny", reason: `plan mode only reads, and ${name} may change things`, rule: "plan" };
    if (outside !== undefined)
      return ask(
        `${outside} is outside the workspace`,
        `--add-dir ${kind === "edit" ? dirname(outside) : outside}`,
      );
    if (kind === "read") return { action: "allow" };
    const guarded = targets.find((target) => isGuarded(target));
    if (guarded !== undefined)
      return ask(`${guarded} is part of a repository's or our own machinery`, "--yolo");
    if (allowedTools.has(name)) return { action: "allow", rule: `--allowed-tools ${name}` };
    if (kind === "edit" && mode === "acceptEdits") return { action: "allow", rule: "acceptEdits" };
    if (kind === "edit") return ask(`${name} changes files`, "--permission-mode acceptEdits");
    return ask(`${name} can do anything you can`, `--allowed-tools ${name}`);
  }

  /** Where the call's paths lead. A read without a path works in the working folder. */
  #targets({ input, cwd, name }: GateRequest): readonly string[] {
    const base = { cwd, home: this.#options.home };
    const path = typeof input["path"] === "string" ? input["path"] : undefined;
    const folder = resolvePath(path ?? ".", base);
    const pattern = name === "glob" ? input["pattern"] : undefined;
    if (typeof pattern !== "string") return path === undefined ? [] : [folder];
    return [folder, ...patternTargets(pattern).map((part) => resolvePath(part, { ...base, cwd: folder }))];
  }

  #isInside(target: string): boolean {
    return this.#workspace.some((folder) => isWithin(target, folder));
  }
}

type Kind = "read" | "edit" | "other";

function kindOf(name: string, readOnly: boolean): Kind {
  if (name === "write" || name === "edit") return "edit";
  return readOnly ? "read" : "other";
}

/** Folders a file pattern starts from or climbs to: `../x/*` leads out of the workspace as a path would. */
function patternTargets(pattern: string): readonly string[] {
  // Braces can spell out what a plain look would miss: every `..` and every root or home inside a group counts.
  if (pattern.includes("..") || /[{,(|]\s*[/~]/.test(pattern)) return ["/"];
  const fixed = pattern.split(/[*?[{(!]/, 1)[0] ?? "";
  return fixed.startsWith("/") || fixed.startsWith("~") ? [dirname(`${fixed}x`)] : [];
}

/** Writing there runs code later (git hooks, our own config), whatever tool does it. */
function isGuarded(target: string): boolean {
  return (
    target.split(sep).some((part) => part === ".git" || part === ".nano-agent") ||
    target.endsWith(`${sep}nano-agent.json`)
  );
}

/** Whether `path` is `folder` or below it. Both must be resolved. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && join(folder, way) === path);
}

function ask(why: string, suggestion: string): GateDecision {
  return { action: "ask", reason: `${why} (${suggestion} would allow it)`, suggestion };
}
