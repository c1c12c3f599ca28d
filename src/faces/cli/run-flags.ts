import type { ConfigFile } from "../../coding/settings/config-schema.ts";
import { type DescribedSchema, jsonSchema, withSetting } from "../../coding/settings/setting.ts";
import { PLACED_SETTINGS } from "../../coding/settings/setting-table.ts";
import type { McpSources } from "../../coding/settings/settings.ts";
import { readOption } from "../../core/base/check.ts";
import { misuse } from "../../core/base/errors.ts";
import { FLAGS } from "./flags.ts";
import { oneOf, type ParsedOptions, readOptions } from "./read-options.ts";
import { readSessionFlags, type SessionFlags } from "./session-flags.ts";

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
  readonly session: SessionFlags;
  readonly mcp: McpSources;
  /** The settings among the options, in the words of a config file; texts may still be `@FILE`. */
  readonly config: ConfigFile;
}

/** Takes the command line of a run apart. Throws `invalid_argument` for options it does not have. */
export function readFlags(args: readonly string[]): ParsedOptions {
  // No option has a blank in it: what begins with a dash and has one is a prompt.
  const hint = args.some((arg) => /^-[^=]*\s/.test(arg))
    ? "; a prompt that begins with - stands behind --"
    : "";
  const fail = (what: string): Error => misuse(`${what} See nano-agent --help${hint}.`);
  const { words, behind, ...flags } = readOptions(args, { options: FLAGS, fail });
  return { ...flags, words: [...words, ...behind], behind: [] };
}

/** Checks a run's options. Throws `invalid_argument`, naming option and value, for a wrong one. */
export function readRunFlags(flags: ParsedOptions): RunFlags {
  const outputFormat = outputFormatOf(flags);
  const inputFormat = (flags.text("--input-format") ?? "text") as RunFlags["inputFormat"];
  const partialMessages = flags.has("--include-partial-messages");
  if (inputFormat === "stream-json" && outputFormat !== "stream-json")
    throw misuse("--input-format stream-json needs --output-format stream-json. Add it.");
  if (partialMessages && outputFormat !== "stream-json")
    throw misuse("--include-partial-messages needs --output-format stream-json. Add it.");
  return {
    words: flags.words,
    print: flags.has("--print"),
    plain: flags.has("--plain"),
    outputFormat,
    inputFormat,
    partialMessages,
    verbose: flags.has("--verbose"),
    jsonSchema: named(flags, "--json-schema"),
    outputFile: named(flags, "--output-last-message"),
    cwd: named(flags, "--cwd"),
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
  throw misuse(`--json means --output-format stream-json, and --output-format says ${named}. Leave one out.`);
}

function configOf(flags: ParsedOptions): ConfigFile {
  const config = PLACED_SETTINGS.reduce<ConfigFile>((before, { path, setting }) => {
    const value = settingOf(flags, setting);
    return value === undefined ? before : withSetting(before, path, value);
  }, {});
  if (!flags.has("--yolo")) return config;
  const { permissionMode = "bypassPermissions" } = config;
  if (permissionMode === "bypassPermissions") return { ...config, permissionMode };
  throw misuse(
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
  if (setting.type === "array") return choices === undefined ? texts : words(texts, name, choices);
  if (choices !== undefined) return oneOf(text, choices, { name, fail: misuse });
  const read = readOption(text, jsonSchema(setting));
  if ("value" in read) return read.value;
  throw misuse(`${name} ${JSON.stringify(text)}: write ${read.expected}.`);
}

/** Words of a closed list may stand together, with commas between them. */
function words(texts: readonly string[], name: string, options: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.split(","))
    .map((text) => oneOf(text.trim(), options, { name, fail: misuse }));
}

function named(flags: ParsedOptions, name: `--${string}`): string | undefined {
  const text = flags.text(name);
  return text === undefined ? undefined : notEmpty(text, name);
}

/** Most likely a variable that is not set: taken for the working folder it would mislead. */
function notEmpty(text: string, name: `--${string}`): string {
  if (text.trim() !== "") return text;
  throw misuse(`${name} is followed by an empty text. Leave it out, or name a value.`);
}
