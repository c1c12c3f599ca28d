import { parseArgs } from "node:util";
import type { SettingFlag } from "../../coding/settings/setting.ts";
import { PLACED_SETTINGS } from "../../coding/settings/setting-table.ts";
import { didYouMean } from "../../core/base/text.ts";

/** An option. Parsing, help, completions and reference all derive from one table. */
export interface CommandOption {
  readonly form: string;
  readonly name: `--${string}`;
  readonly short: string | undefined;
  /** Placeholder of its value, in brackets if optional; undefined if it takes none. */
  readonly value: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly help: string;
}

/**
 * Options and their help by form: `--json`, `-o, --output FILE`, `--resume [ID]`, and with restricted values
 * `--format json|html`.
 */
function optionTable(table: { readonly [form: string]: string }): readonly CommandOption[] {
  return Object.entries(table).map(([form, help]) => {
    const words = form.split(" ");
    const short = form.startsWith("--") ? undefined : words.shift()?.replace(",", "");
    const name = words.shift() as CommandOption["name"];
    const value = words.length === 0 ? undefined : words.join(" ");
    // Placeholders are uppercase, values are not.
    const isClosed = value?.includes("|") === true && value === value.toLowerCase();
    return { form, name, short, value, choices: isClosed ? value.split("|") : undefined, help };
  });
}

export interface ParsedOptions {
  readonly words: readonly string[];
  /** The words after `--`. */
  readonly afterDashes: readonly string[];
  readonly has: (option: `--${string}`) => boolean;
  /** The value of an option; the last one if it was given several times. */
  readonly text: (option: `--${string}`) => string | undefined;
  readonly list: (option: `--${string}`) => readonly string[];
}

/** The options a command line may have, and how errors in it are made. */
interface OptionSyntax {
  readonly options: readonly CommandOption[];
  readonly fail: (what: string) => Error;
}

/** Represents an omitted value. It cannot be typed: an empty value is an error. */
export const NO_VALUE = "\0";

/**
 * Parses a command line. Throws the error made by `fail` for an unknown option (with the nearest one), a
 * missing or superfluous value, and a value not among its choices.
 */
export function readOptions(args: readonly string[], table: OptionSyntax): ParsedOptions {
  const { options } = table;
  const { tokens } = parseArgs({
    args: withEmptyValues(args, options),
    options: Object.fromEntries(options.map((option) => [option.name.slice(2), parserOption(option)])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? Number.POSITIVE_INFINITY;
  const words: string[] = [];
  const afterDashes: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") (token.index > end ? afterDashes : words).push(token.value);
    if (token.kind !== "option") continue;
    const { name, value } = readOption(token, table);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return {
    words,
    afterDashes,
    has: (name) => values.has(name),
    text: (name) => values.get(name)?.at(-1),
    list: (name) => values.get(name) ?? [],
  };
}

/** Returns `text` if it is one of the words, else throws the error made by `fail`, with the nearest word. */
export function requireOneOf<const T extends string>(
  text: string,
  choices: readonly T[],
  { name, fail }: { readonly name: string; readonly fail: OptionSyntax["fail"] },
): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw fail(
    `${name} ${JSON.stringify(text)}: unknown.${didYouMean(text, choices)} One of: ${choices.join(", ")}.`,
  );
}

/** Inserts {@link NO_VALUE} for an omitted optional value: at the end, or before another option. */
function withEmptyValues(args: readonly string[], options: readonly CommandOption[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const option = optionAt(arg, options);
    if (option === undefined || !isOptional(option) || (end !== -1 && at > end)) return arg;
    const next = args[at + 1];
    return next === undefined || (next.startsWith("-") && next !== "-") ? `${option.name}=${NO_VALUE}` : arg;
  });
}

function optionAt(word: string, options: readonly CommandOption[]): CommandOption | undefined {
  return options.find(({ name, short }) => word === name || word === short);
}

function isOptional({ value }: CommandOption): boolean {
  return value?.startsWith("[") === true;
}

function parserOption({ value, short }: CommandOption): { type: "boolean" | "string"; short?: string } {
  const type = value === undefined ? "boolean" : "string";
  return { type, ...(short === undefined ? {} : { short: short.slice(1) }) };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function readOption(
  { name, rawName, value, inlineValue = false }: OptionToken,
  { options, fail }: OptionSyntax,
): { readonly name: string; readonly value: string } {
  const option = optionAt(`--${name}`, options);
  if (option === undefined) {
    const known = [...options.map((each) => each.name), "--help"];
    throw fail(`Unknown option ${rawName}.${didYouMean(rawName, known)}`);
  }
  if (option.value === undefined) {
    if (value === undefined) return { name: option.name, value: "" };
    throw fail(`${rawName} takes no value. Leave "=${value}" out.`);
  }
  if (isOptional(option)) {
    // Most likely an unset variable. Treated as omitted, it would resume a different session.
    if (value === "") throw fail(`${rawName} is followed by an empty text. Leave it out, or name a value.`);
    return { name: option.name, value: value ?? NO_VALUE };
  }
  // A value spelled like an option was most likely forgotten.
  if (value === undefined || (!inlineValue && optionAt(value, options) !== undefined))
    throw fail(`${rawName} needs a value: ${rawName} ${option.value}.`);
  if (option.choices !== undefined) requireOneOf(value, option.choices, { name: option.name, fail });
  return { name: option.name, value };
}

export interface FlagSpec extends CommandOption {
  readonly group: SettingFlag["group"] | "Input and output" | "Place" | "Other";
}

export const FLAGS: readonly FlagSpec[] = [
  ...flags("Run", {
    "-p, --print": "Run once without a screen; print the answer to standard output.",
    "--plain":
      "A screen of lines, without cursor movement or redrawing, for screen readers and simple terminals. Also NANO_AGENT_PLAIN=1.",
  }),
  ...settingFlags("Run"),
  ...flags("Run", {
    "--mcp-config FILE|JSON":
      'Additional MCP servers: a file in the format of .mcp.json, or {"mcpServers":{…}} itself.',
    "--strict-mcp-config": "Use only the MCP servers of --mcp-config.",
  }),
  ...flags("Session", {
    "-c, --continue": "Continue the newest session of the working folder.",
    "-r, --resume [ID]":
      "Continue the session with this id or unique prefix (see nano-agent sessions list); without an id, choose one, or without a screen the newest.",
    "--fork-session": "With --continue or --resume: continue in a copy and leave the session unchanged.",
    "--from N":
      "With --continue or --resume: go back to just before step N (see nano-agent sessions show). Without a prompt the model gets the same request as then. Later steps are discarded; with --fork-session the session stays unchanged.",
    "--session-id ID": "Id of the new session or copy: letters, digits, _ and -. Default: a new UUID.",
    "--no-session": "Store nothing of the run on disk.",
  }),
  ...settingFlags("Session"),
  ...flags("Input and output", {
    "--output-format text|json|stream-json":
      "text: the answer. json: one result object. stream-json: one JSON object per line and event.",
    "--json": "Same as --output-format stream-json.",
    "--include-partial-messages": "With stream-json: also parts of an answer as they stream in.",
    "--input-format text|stream-json":
      "stream-json: user messages as JSON lines on standard input, answered in order. Needs --output-format stream-json.",
    "--json-schema FILE|JSON": "JSON Schema for the answer, which is then a JSON value.",
    "-o, --output-last-message FILE": "Also write the answer to a file.",
  }),
  ...settingFlags("Permission"),
  ...flags("Permission", {
    "--yolo":
      "Same as --permission-mode bypassPermissions: every call runs unless a rule denies it. Your ask rules, and edits in .git, .nano-agent and nano-agent.json, still ask. Only for places you can afford to lose.",
  }),
  ...settingFlags("Limits"),
  ...flags("Place", {
    "-C, --cwd FOLDER": "Work in this folder.",
    "--add-dir FOLDER": "Another folder that belongs to the workspace.",
  }),
  ...flags("Input and output", {
    "--verbose": "Log requests, tool calls and decisions to standard error.",
  }),
  ...flags("Other", {
    "-h, --help": "Show this help.",
    "-v, --version": "Show the version.",
  }),
];

function flags(group: FlagSpec["group"], table: { readonly [form: string]: string }): readonly FlagSpec[] {
  return optionTable(table).map((option) => ({ ...option, group }));
}

/** The options for a group of settings. */
function settingFlags(group: SettingFlag["group"]): readonly FlagSpec[] {
  return PLACED_SETTINGS.flatMap(({ setting }) => {
    const { flag, help = "" } = setting;
    if (flag?.group !== group) return [];
    const { name, short, value } = flag;
    const form = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
    return flags(group, { [form]: flag.help ?? help }).map((option) => ({
      ...option,
      choices: setting.enum ?? option.choices,
    }));
  });
}

export interface CommandAction {
  /** The word after the command; undefined if the command has a single action. */
  readonly name: string | undefined;
  /** Placeholders of the words that follow: `ID`, `[ID]` (optional), `FILE…` (one or more), `[WORD…]`. */
  readonly words: readonly string[];
  /** Placeholder of the words after `--`; undefined if none are allowed. */
  readonly afterDashes: string | undefined;
  readonly options: readonly CommandOption[];
  /** True: it runs the agent and also takes {@link RUN_OPTIONS}. */
  readonly runOptions?: true;
  readonly help: string;
}

/** Run options also accepted by sub-commands that run the agent. */
export const RUN_OPTIONS: readonly CommandOption[] = FLAGS.filter(({ name, group }) =>
  group === "Run" || group === "Permission" || group === "Limits" ? name !== "--print" : name === "--add-dir",
);

export interface CommandSpec {
  readonly name: string;
  readonly help: string;
  /** Its actions; the first is the default if it needs no words. */
  readonly actions: readonly [CommandAction, ...CommandAction[]];
}

export function command(name: string, help: string, ...actions: CommandSpec["actions"]): CommandSpec {
  return { name, help, actions };
}

/** An action by its form, such as `put ID [FILE…] -- PATH…`, and its options by theirs. */
export function action(
  form: string,
  help: string,
  options: { readonly [form: string]: string } = {},
): CommandAction {
  const [before = "", afterDashes] = form.split("-- ");
  const words = before.split(" ").filter((word) => word !== "");
  // Placeholders are uppercase.
  const name = words[0] === words[0]?.toLowerCase() ? words.shift() : undefined;
  return {
    name,
    words,
    afterDashes,
    // Lazy: every start creates these tables, and most starts need none of them.
    get options() {
      return optionTable(options);
    },
    help,
  };
}

/** The written form of an action: `sessions export [ID] [--format FORMAT] …`. */
export function actionForm(
  command: CommandSpec,
  { name, words, options, runOptions, afterDashes }: CommandAction,
): string {
  // Short names appear in the description of the option.
  const named = options.map(({ form }) => `[${form.replace(/^-\w, /, "")}]`);
  const run = runOptions === true ? ["[options of a run]"] : [];
  const rest = afterDashes === undefined ? [] : [`[-- ${afterDashes}]`];
  return [command.name, name ?? [], words, named, run, rest].flat().join(" ");
}
