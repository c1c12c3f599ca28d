import type { SettingFlag } from "../../app/config/setting.ts";
import { PLACED_SETTINGS } from "../../app/config/setting-table.ts";
import type { CommandOption } from "./read-options.ts";

/** Names of the options that are no settings. */
export type FlagName =
  | "--print"
  | "--plain"
  | "--mcp-config"
  | "--strict-mcp-config"
  | "--continue"
  | "--resume"
  | "--fork-session"
  | "--from"
  | "--session-id"
  | "--no-session"
  | "--output-format"
  | "--json"
  | "--include-partial-messages"
  | "--input-format"
  | "--json-schema"
  | "--output-last-message"
  | "--yolo"
  | "--cwd"
  | "--add-dir"
  | "--verbose"
  | "--help"
  | "--version";

/** An option of a run. */
export interface FlagSpec extends CommandOption {
  readonly group: SettingFlag["group"] | "Input and output" | "Place" | "Other";
}

/** The options of a run, in the order the help shows them. */
export const FLAGS: readonly FlagSpec[] = [
  {
    name: "--print",
    short: "-p",
    group: "Run",
    help: "Run once without a screen: the answer goes to standard output.",
  },
  {
    name: "--plain",
    group: "Run",
    help: "A screen of lines only, without cursor movement and redraw: for screen readers and simple terminals. Also NANO_AGENT_PLAIN=1.",
  },
  ...settingFlags("Run"),
  {
    name: "--mcp-config",
    value: "FILE|JSON",
    group: "Run",
    help: 'MCP servers beside those of the settings and of the project: a file in the form of .mcp.json, or {"mcpServers":{…}} itself.',
  },
  {
    name: "--strict-mcp-config",
    group: "Run",
    help: "Use the MCP servers of --mcp-config and no other.",
  },
  {
    name: "--continue",
    short: "-c",
    group: "Session",
    help: "Go on with the newest session of the working folder.",
  },
  {
    name: "--resume",
    short: "-r",
    value: "[ID]",
    group: "Session",
    help: "Go on with the session of this id, or the only one whose id begins so (see nano-agent sessions list); without an id, with the newest.",
  },
  {
    name: "--fork-session",
    group: "Session",
    help: "With --continue or --resume: go on in a copy and leave the session as it is.",
  },
  {
    name: "--from",
    value: "N",
    group: "Session",
    help: "With --continue or --resume: go back to step N (see nano-agent sessions show) and go on from what stood before it. Without a prompt the model is asked what it was asked then. What came later is set aside; with --fork-session the session stays as it is.",
  },
  {
    name: "--session-id",
    value: "ID",
    group: "Session",
    help: "Id of the new session or copy: letters, digits, _ and -. Default: a new UUID.",
  },
  {
    name: "--no-session",
    group: "Session",
    help: "Keep nothing of the run on disk.",
  },
  ...settingFlags("Session"),
  {
    name: "--output-format",
    value: "text|json|stream-json",
    group: "Input and output",
    help: "text: the answer. json: one result object. stream-json: one JSON object a line as things happen.",
  },
  {
    name: "--json",
    group: "Input and output",
    help: "The same as --output-format stream-json.",
  },
  {
    name: "--include-partial-messages",
    group: "Input and output",
    help: "With stream-json: also the pieces of an answer as they arrive.",
  },
  {
    name: "--input-format",
    value: "text|stream-json",
    group: "Input and output",
    help: "stream-json: user messages as JSON lines on standard input, answered one after the other. Needs --output-format stream-json.",
  },
  {
    name: "--json-schema",
    value: "FILE|JSON",
    group: "Input and output",
    help: "JSON Schema the answer must fit; the answer is then a JSON value.",
  },
  {
    name: "--output-last-message",
    short: "-o",
    value: "FILE",
    group: "Input and output",
    help: "Also write the answer to a file.",
  },
  ...settingFlags("Permission"),
  {
    name: "--yolo",
    group: "Permission",
    help: "The same as --permission-mode bypassPermissions: every tool call runs. For places you can lose.",
  },
  ...settingFlags("Limits"),
  { name: "--cwd", short: "-C", value: "FOLDER", group: "Place", help: "Work in this folder." },
  {
    name: "--add-dir",
    value: "FOLDER",
    group: "Place",
    help: "A further folder that counts as inside the workspace.",
  },
  {
    name: "--verbose",
    group: "Input and output",
    help: "Say on standard error, line by line, what happens: requests, tool calls, decisions.",
  },
  { name: "--help", short: "-h", group: "Other", help: "Show this help." },
  { name: "--version", short: "-v", group: "Other", help: "Show the version." },
];

/** The options of a group that settings have. */
function settingFlags(group: SettingFlag["group"]): readonly FlagSpec[] {
  return PLACED_SETTINGS.flatMap(({ setting: { flag, help = "" } }) => {
    if (flag?.group !== group) return [];
    const { name, short, value } = flag;
    return {
      name: `--${name}` as const,
      ...(short === undefined ? {} : { short: `-${short}` as const }),
      ...(value === undefined ? {} : { value }),
      group,
      help: flag.help ?? help,
    };
  });
}
