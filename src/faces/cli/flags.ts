import type { SettingFlag } from "../../coding/settings/setting.ts";
import { PLACED_SETTINGS } from "../../coding/settings/setting-table.ts";
import { type CommandOption, optionTable } from "./read-options.ts";

/** An option of a run. */
export interface FlagSpec extends CommandOption {
  readonly group: SettingFlag["group"] | "Input and output" | "Place" | "Other";
}

/** The options of a run, in the order the help shows them. */
export const FLAGS: readonly FlagSpec[] = [
  ...flags("Run", {
    "-p, --print": "Run once without a screen: the answer goes to standard output.",
    "--plain":
      "A screen of lines only, without cursor movement and redraw: for screen readers and simple terminals. Also NANO_AGENT_PLAIN=1.",
  }),
  ...settingFlags("Run"),
  ...flags("Run", {
    "--mcp-config FILE|JSON":
      'MCP servers beside those of the settings and of the project: a file in the form of .mcp.json, or {"mcpServers":{…}} itself.',
    "--strict-mcp-config": "Use the MCP servers of --mcp-config and no other.",
  }),
  ...flags("Session", {
    "-c, --continue": "Go on with the newest session of the working folder.",
    "-r, --resume [ID]":
      "Go on with the session of this id, or the only one whose id begins so (see nano-agent sessions list); without an id, with the one you choose, or without a screen the newest.",
    "--fork-session": "With --continue or --resume: go on in a copy and leave the session as it is.",
    "--from N":
      "With --continue or --resume: go back to step N (see nano-agent sessions show) and go on from what stood before it. Without a prompt the model is asked what it was asked then. What came later is set aside; with --fork-session the session stays as it is.",
    "--session-id ID": "Id of the new session or copy: letters, digits, _ and -. Default: a new UUID.",
    "--no-session": "Keep nothing of the run on disk.",
  }),
  ...settingFlags("Session"),
  ...flags("Input and output", {
    "--output-format text|json|stream-json":
      "text: the answer. json: one result object. stream-json: one JSON object a line as things happen.",
    "--json": "The same as --output-format stream-json.",
    "--include-partial-messages": "With stream-json: also the pieces of an answer as they arrive.",
    "--input-format text|stream-json":
      "stream-json: user messages as JSON lines on standard input, answered one after the other. Needs --output-format stream-json.",
    "--json-schema FILE|JSON": "JSON Schema the answer must fit; the answer is then a JSON value.",
    "-o, --output-last-message FILE": "Also write the answer to a file.",
  }),
  ...settingFlags("Permission"),
  ...flags("Permission", {
    "--yolo":
      "The same as --permission-mode bypassPermissions: every tool call runs that no rule denies. Your ask rules, and edits in .git, .nano-agent and nano-agent.json, still ask. For places you can lose.",
  }),
  ...settingFlags("Limits"),
  ...flags("Place", {
    "-C, --cwd FOLDER": "Work in this folder.",
    "--add-dir FOLDER": "A further folder that counts as inside the workspace.",
  }),
  ...flags("Input and output", {
    "--verbose": "Say on standard error, line by line, what happens: requests, tool calls, decisions.",
  }),
  ...flags("Other", {
    "-h, --help": "Show this help.",
    "-v, --version": "Show the version.",
  }),
];

function flags(group: FlagSpec["group"], table: { readonly [form: string]: string }): readonly FlagSpec[] {
  return optionTable(table).map((option) => ({ ...option, group }));
}

/** The options of a group that settings have. */
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
