import { readGivenServers } from "../../coding/mcp/find-servers.ts";
import type { CodingSessionOptions, ResumeOptions } from "../../coding/session/coding-session.ts";
import type { ConfigFile } from "../../coding/settings/config-schema.ts";
import { currentFolder } from "../../coding/settings/paths.ts";
import { type DescribedSchema, jsonSchema, withSetting } from "../../coding/settings/setting.ts";
import { PLACED_SETTINGS } from "../../coding/settings/setting-table.ts";
import type { McpSources } from "../../coding/settings/settings.ts";
import { readOption } from "../../core/base/check-options.ts";
import { invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { quoteShellArgument } from "../../core/base/text.ts";
import { assertSessionId } from "../../session/session-file.ts";
import type { Environment } from "../../system/env.ts";
import { textOrFile } from "./prompt.ts";
import { FLAGS, NO_VALUE, type ParsedOptions, readOptions, requireOneOf } from "./read-options.ts";

export type OutputFormat = "text" | "json" | "stream-json";

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
  readonly session: SessionFlags;
  readonly mcp: McpSources;
  /** The settings given as options, by config key; texts may still be `@FILE`. */
  readonly config: ConfigFile;
}

/** Parses the command line of a run. Throws `invalid_argument` for unknown options. */
export function readFlags(args: readonly string[]): ParsedOptions {
  // No option contains a blank: anything that starts with a dash and has one is a prompt.
  const hint = args.some((arg) => /^-[^=]*\s/.test(arg)) ? "; put a prompt that begins with - after --" : "";
  const fail = (what: string): Error => invalidArgument(`${what} See nano-agent --help${hint}.`);
  const { words, afterDashes, ...flags } = readOptions(args, { options: FLAGS, fail });
  return { ...flags, words: [...words, ...afterDashes], afterDashes: [] };
}

/** Validates a run's options. Throws `invalid_argument`, naming option and value, for a wrong one. */
export function readRunFlags(flags: ParsedOptions): RunFlags {
  const outputFormat = outputFormatOf(flags);
  const inputFormat = (flags.text("--input-format") ?? "text") as RunFlags["inputFormat"];
  const partialMessages = flags.has("--include-partial-messages");
  if (inputFormat === "stream-json" && outputFormat !== "stream-json")
    throw invalidArgument("--input-format stream-json needs --output-format stream-json. Add it.");
  if (partialMessages && outputFormat !== "stream-json")
    throw invalidArgument("--include-partial-messages needs --output-format stream-json. Add it.");
  return {
    words: flags.words,
    print: flags.has("--print"),
    plain: flags.has("--plain"),
    outputFormat,
    inputFormat,
    partialMessages,
    verbose: flags.has("--verbose"),
    jsonSchema: nonEmptyValue(flags, "--json-schema"),
    outputFile: nonEmptyValue(flags, "--output-last-message"),
    cwd: nonEmptyValue(flags, "--cwd"),
    addDirs: flags.list("--add-dir").map((folder) => notEmpty(folder, "--add-dir")),
    session: readSessionFlags(flags),
    mcp: {
      configs: flags.list("--mcp-config").map((text) => notEmpty(text, "--mcp-config")),
      strict: flags.has("--strict-mcp-config"),
    },
    config: configOf(flags),
  };
}

function outputFormatOf(flags: ParsedOptions): OutputFormat {
  const named = flags.text("--output-format") as OutputFormat | undefined;
  if (!flags.has("--json")) return named ?? "text";
  if (named === undefined || named === "stream-json") return "stream-json";
  throw invalidArgument(
    `--json means --output-format stream-json, and --output-format says ${named}. Leave one out.`,
  );
}

function configOf(flags: ParsedOptions): ConfigFile {
  const config = PLACED_SETTINGS.reduce<ConfigFile>((before, { path, setting }) => {
    const value = settingOf(flags, setting);
    return value === undefined ? before : withSetting(before, path, value);
  }, {});
  if (!flags.has("--yolo")) return config;
  const { permissionMode = "bypassPermissions" } = config;
  if (permissionMode === "bypassPermissions") return { ...config, permissionMode };
  throw invalidArgument(
    `--yolo means --permission-mode bypassPermissions, and --permission-mode says ${permissionMode}. Leave one out.`,
  );
}

function settingOf(flags: ParsedOptions, setting: DescribedSchema): unknown {
  const { flag } = setting;
  const name = `--${flag?.name ?? ""}` as const;
  const texts = flags.list(name);
  const text = texts.at(-1);
  if (flag === undefined || text === undefined) return undefined;
  if (flag.value === undefined) return flag.negates !== true;
  const choices = (setting.items ?? setting).enum;
  if (setting.type === "array") return choices === undefined ? texts : listedWords(texts, name, choices);
  if (choices !== undefined) return requireOneOf(text, choices, { name, fail: invalidArgument });
  const read = readOption(text, jsonSchema(setting));
  if ("value" in read) return read.value;
  throw invalidArgument(`${name} ${JSON.stringify(text)}: write ${read.expected}.`);
}

/** Words of a closed list, which may be joined by commas. */
function listedWords(texts: readonly string[], name: string, options: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.split(","))
    .map((text) => requireOneOf(text.trim(), options, { name, fail: invalidArgument }));
}

function nonEmptyValue(flags: ParsedOptions, name: `--${string}`): string | undefined {
  const text = flags.text(name);
  return text === undefined ? undefined : notEmpty(text, name);
}

/** Rejects an empty value: most likely an unset variable, mistaken for the working directory. */
function notEmpty(text: string, name: `--${string}`): string {
  if (text.trim() !== "") return text;
  throw invalidArgument(`${name} is followed by an empty text. Leave it out, or name a value.`);
}

interface SessionFlags {
  /** False: nothing of the run is stored. */
  readonly keep: boolean;
  readonly sessionId: string | undefined;
  readonly resume: ResumeOptions | undefined;
}

/** Reads the session options of a run. Throws `invalid_argument` for bad ids and conflicting options. */
function readSessionFlags(flags: ParsedOptions): SessionFlags {
  const named = flags.text("--resume");
  const sessionId = flags.text("--session-id");
  if (named !== undefined && named !== NO_VALUE) assertSessionId(named, "--resume");
  if (sessionId !== undefined) assertSessionId(sessionId, "--session-id");
  assertAgreement(flags);
  const step = readStep(flags.text("--from"));
  const id = named === undefined || named === NO_VALUE ? "last" : named;
  const fork = flags.has("--fork-session");
  const isResumed = flags.has("--continue") || named !== undefined;
  return {
    keep: !flags.has("--no-session"),
    sessionId,
    resume: isResumed ? { id, fork, ...omitUndefined({ step }) } : undefined,
  };
}

/** Parses a step number of the command line. Throws `invalid_argument` if it is not a whole number from 1. */
export function readStep(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw invalidArgument(
    `--from ${JSON.stringify(text)}: write the number of a step, from 1. nano-agent sessions show prints them.`,
  );
}

function assertAgreement(flags: ParsedOptions): void {
  const from = (["--continue", "--resume"] as const).filter((name) => flags.has(name));
  const [other] = [...from, ...(flags.has("--fork-session") ? ["--fork-session"] : [])];
  if (from.length > 1)
    throw invalidArgument("--continue takes the newest session and --resume names one. Leave one out.");
  if (flags.has("--from") && from.length === 0)
    throw invalidArgument(
      "--from goes back to a step of a session: say which session, with --continue or --resume ID.",
    );
  if (flags.has("--no-session") && other !== undefined)
    throw invalidArgument(
      `--no-session stores nothing and ${other} continues a stored session. Leave one out.`,
    );
  if (flags.has("--fork-session") && from.length === 0)
    throw invalidArgument("--fork-session copies a session: say which, with --continue or --resume ID.");
  if (from.length > 0 && flags.has("--session-id") && !flags.has("--fork-session"))
    throw invalidArgument(
      "--session-id names a new session. With --continue and --resume it needs --fork-session.",
    );
}

interface SessionOrigin {
  /** An existing folder. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly newId: string;
}

/** A session's options from the command line. Throws `invalid_argument` for an unreadable prompt file. */
export function sessionOptionsOf(flags: RunFlags, origin: SessionOrigin): CodingSessionOptions {
  const { config, addDirs, mcp, session, cwd: folder } = flags;
  const { cwd, environment, newId: sessionId } = origin;
  const folderOption = folder === undefined ? "" : ` -C ${quoteShellArgument(cwd)}`;
  const { keep, resume } = session;
  return {
    ...omitUndefined({ cwd, addDirs, environment, mcp, sessionId, keep, resume }),
    settings: withPromptFiles(config, cwd),
    goOnCommand: (options) => `nano-agent -p ${options}${folderOption} "…"`,
  };
}

/**
 * Reads the files among the MCP server options now, from where the command is given: sessions have other
 * working directories. Throws `invalid_argument` and `invalid_config` for unreadable ones.
 */
export async function withServerFiles(mcp: McpSources): Promise<McpSources> {
  const here = currentFolder();
  return { ...mcp, configs: await Promise.all(mcp.configs.map((text) => readGivenServers(text, here))) };
}

/** Options with the files of system prompts read. Throws `invalid_argument` if one is unreadable. */
export function withPromptFiles(config: ConfigFile, cwd: string): ConfigFile {
  const read = (text: string | undefined, what: string): string | undefined =>
    text === undefined ? undefined : textOrFile(text, { what, cwd });
  const systemPrompt = read(config.systemPrompt, "--system-prompt");
  const appendSystemPrompt = read(config.appendSystemPrompt, "--append-system-prompt");
  return { ...config, ...omitUndefined({ systemPrompt, appendSystemPrompt }) };
}
