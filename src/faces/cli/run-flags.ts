import type { ConfigFile } from "../../app/config/config-schema.ts";
import { DURATION_FORM, parseDuration } from "../../app/config/duration.ts";
import { EXTRA_TOOLS } from "../../app/config/extra-tool.ts";
import { PATTERN_NAMES } from "../../app/config/pattern-name.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../app/config/permission-mode.ts";
import { SANDBOX_MODES } from "../../app/config/sandbox-mode.ts";
import type { McpSources } from "../../app/mcp/mcp-sources.ts";
import type { SessionChoice } from "../../app/open-session.ts";
import { nearest } from "../../core/base/text.ts";
import type { FlagName } from "./flags.ts";
import type { ParsedFlags } from "./parse-flags.ts";
import { readSessionFlags } from "./session-flags.ts";
import { usageError } from "./usage-error.ts";

/** How a run's output looks. */
export type OutputFormat = "text" | "json" | "stream-json";

/** The options of a run, checked. Files they name are not read yet. */
export interface RunFlags {
  readonly words: readonly string[];
  readonly print: boolean;
  readonly plain: boolean;
  readonly outputFormat: OutputFormat;
  readonly inputFormat: "text" | "stream-json";
  readonly partialMessages: boolean;
  readonly verbose: boolean;
  readonly jsonSchema: string | undefined;
  readonly outputFile: string | undefined;
  readonly cwd: string | undefined;
  readonly addDirs: readonly string[];
  readonly session: SessionChoice;
  readonly mcp: McpSources;
  /** What the options say in the words of a config file; texts may still be `@FILE`. */
  readonly config: ConfigFile;
}

/** Checks the values of a run's options. Throws `invalid_argument`, naming option and value, for one that cannot be. */
export function readRunFlags(flags: ParsedFlags): RunFlags {
  const outputFormat = outputFormatOf(flags);
  const inputFormat = choice(flags, "input-format", ["text", "stream-json"]) ?? "text";
  const partialMessages = flags.has("include-partial-messages");
  if (inputFormat === "stream-json" && outputFormat !== "stream-json")
    throw usageError("--input-format stream-json needs --output-format stream-json. Add it.");
  if (partialMessages && outputFormat !== "stream-json")
    throw usageError("--include-partial-messages needs --output-format stream-json. Add it.");
  return {
    words: flags.words,
    print: flags.has("print"),
    plain: flags.has("plain"),
    outputFormat,
    inputFormat,
    partialMessages,
    verbose: flags.has("verbose"),
    jsonSchema: named(flags, "json-schema"),
    outputFile: named(flags, "output-last-message"),
    cwd: named(flags, "cwd"),
    addDirs: flags.list("add-dir").map((folder) => notEmpty(folder, "add-dir")),
    session: readSessionFlags(flags),
    mcp: {
      configs: flags.list("mcp-config").map((text) => notEmpty(text, "mcp-config")),
      strict: flags.has("strict-mcp-config"),
    },
    config: configOf(flags),
  };
}

function outputFormatOf(flags: ParsedFlags): OutputFormat {
  const named = choice(flags, "output-format", ["text", "json", "stream-json"]);
  if (!flags.has("json")) return named ?? "text";
  if (named === undefined || named === "stream-json") return "stream-json";
  throw usageError(
    `--json means --output-format stream-json, and --output-format says ${named}. Leave one out.`,
  );
}

function configOf(flags: ParsedFlags): ConfigFile {
  const mode = permissionModeOf(flags);
  const pattern = choice(flags, "pattern", PATTERN_NAMES);
  const maxTurns = wholeNumber(flags, "max-turns");
  const maxBudgetUsd = amount(flags, "max-budget-usd");
  const maxWallTime = duration(flags, "max-wall-time");
  const texts = {
    model: flags.text("model"),
    systemPrompt: flags.text("system-prompt"),
    appendSystemPrompt: flags.text("append-system-prompt"),
  };
  const extraTools = names(flags, "extra-tools", EXTRA_TOOLS);
  const allowed = flags.list("allowed-tools");
  const disallowed = flags.list("disallowed-tools");
  const pass = flags.list("pass-env");
  const sandbox = choice(flags, "sandbox", SANDBOX_MODES);
  if (texts.model?.trim() === "") throw usageError("--model is empty. Write provider/id.");
  return {
    ...present(texts),
    ...(pattern === undefined ? {} : { pattern }),
    ...(extraTools.length === 0 ? {} : { extraTools }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(allowed.length === 0 ? {} : { allowedTools: allowed }),
    ...(disallowed.length === 0 ? {} : { disallowedTools: disallowed }),
    ...(flags.has("no-undo") ? { undo: false } : {}),
    ...(pass.length === 0 ? {} : { environment: { pass } }),
    ...(sandbox === undefined ? {} : { sandbox: { mode: sandbox } }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd }),
    ...(maxWallTime === undefined ? {} : { maxWallTime }),
  };
}

function present<T extends { readonly [key: string]: string | undefined }>(
  values: T,
): { readonly [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: string;
  };
}

function permissionModeOf(flags: ParsedFlags): PermissionMode | undefined {
  const named = choice(flags, "permission-mode", PERMISSION_MODES);
  if (!flags.has("yolo")) return named;
  if (named === undefined || named === "bypassPermissions") return "bypassPermissions";
  throw usageError(
    `--yolo means --permission-mode bypassPermissions, and --permission-mode says ${named}. Leave one out.`,
  );
}

function choice<const T extends string>(
  flags: ParsedFlags,
  name: FlagName,
  options: readonly T[],
): T | undefined {
  const text = flags.text(name);
  return text === undefined ? undefined : oneOf(text, name, options);
}

function names<const T extends string>(
  flags: ParsedFlags,
  name: FlagName,
  options: readonly T[],
): readonly T[] {
  return flags
    .list(name)
    .flatMap((text) => text.split(","))
    .map((text) => oneOf(text.trim(), name, options));
}

function named(flags: ParsedFlags, name: FlagName): string | undefined {
  const text = flags.text(name);
  return text === undefined ? undefined : notEmpty(text, name);
}

/** Most likely a variable that is not set: to take it for the working folder would work in another place than was meant. */
function notEmpty(text: string, name: FlagName): string {
  if (text.trim() !== "") return text;
  throw usageError(`--${name} is followed by an empty text. Leave it out, or name a value.`);
}

function oneOf<const T extends string>(text: string, name: FlagName, options: readonly T[]): T {
  const found = options.find((option) => option === text);
  if (found !== undefined) return found;
  const guess = nearest(text, options);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  throw usageError(`--${name} ${JSON.stringify(text)}: unknown.${hint} One of: ${options.join(", ")}.`);
}

function wholeNumber(flags: ParsedFlags, name: FlagName): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(`--${name} ${JSON.stringify(text)}: write a whole number from 1.`);
}

function amount(flags: ParsedFlags, name: FlagName): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const value = /^(?:\d{1,9}(?:\.\d{1,6})?|\.\d{1,6})$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw usageError(`--${name} ${JSON.stringify(text)}: write an amount above 0, e.g. 0.50.`);
}

function duration(flags: ParsedFlags, name: FlagName): string | undefined {
  const text = flags.text(name);
  if (text === undefined || parseDuration(text) !== undefined) return text;
  throw usageError(`--${name} ${JSON.stringify(text)}: write ${DURATION_FORM}.`);
}
