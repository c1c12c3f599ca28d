import type { SettingFlag } from "../../app/config/setting.ts";
import { PLACED_SETTINGS } from "../../app/config/setting-table.ts";

/** Names of the options that are no settings. */
export type FlagName =
  | "print"
  | "plain"
  | "mcp-config"
  | "strict-mcp-config"
  | "continue"
  | "resume"
  | "fork-session"
  | "from"
  | "session-id"
  | "no-session"
  | "output-format"
  | "json"
  | "include-partial-messages"
  | "input-format"
  | "json-schema"
  | "output-last-message"
  | "yolo"
  | "cwd"
  | "add-dir"
  | "verbose"
  | "help"
  | "version";

/** One option of the command line. */
export interface FlagSpec {
  readonly name: string;
  readonly short?: string;
  /** `list`: may be given several times. `optional`: a value may follow. */
  readonly type: "boolean" | "text" | "list" | "optional";
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly group: SettingFlag["group"] | "Input and output" | "Place" | "Other";
  readonly help: string;
}

/** The options of a run, in the order the help shows them. */
export const FLAGS: readonly FlagSpec[] = [
  {
    name: "print",
    short: "p",
    type: "boolean",
    group: "Run",
    help: "Run once without a screen: the answer goes to standard output.",
  },
  {
    name: "plain",
    type: "boolean",
    group: "Run",
    help: "A screen of lines only, without cursor movement and redraw: for screen readers and simple terminals. Also NANO_AGENT_PLAIN=1.",
  },
  ...settingFlags("Run"),
  {
    name: "mcp-config",
    type: "list",
    value: "FILE|JSON",
    group: "Run",
    help: 'MCP servers beside those of the settings and of the project: a file in the form of .mcp.json, or {"mcpServers":{…}} itself.',
  },
  {
    name: "strict-mcp-config",
    type: "boolean",
    group: "Run",
    help: "Use the MCP servers of --mcp-config and no other.",
  },
  {
    name: "continue",
    short: "c",
    type: "boolean",
    group: "Session",
    help: "Go on with the newest session of the working folder.",
  },
  {
    name: "resume",
    short: "r",
    type: "optional",
    value: "[ID]",
    group: "Session",
    help: "Go on with the session of this id, or the only one whose id begins so (see nano-agent sessions list); without an id, with the newest.",
  },
  {
    name: "fork-session",
    type: "boolean",
    group: "Session",
    help: "With --continue or --resume: go on in a copy and leave the session as it is.",
  },
  {
    name: "from",
    type: "text",
    value: "N",
    group: "Session",
    help: "With --continue or --resume: go back to step N (see nano-agent sessions show) and go on from what stood before it. Without a prompt the model is asked what it was asked then. What came later is set aside; with --fork-session the session stays as it is.",
  },
  {
    name: "session-id",
    type: "text",
    value: "ID",
    group: "Session",
    help: "Id of the new session or copy: letters, digits, _ and -. Default: a new UUID.",
  },
  {
    name: "no-session",
    type: "boolean",
    group: "Session",
    help: "Keep nothing of the run on disk.",
  },
  ...settingFlags("Session"),
  {
    name: "output-format",
    type: "text",
    value: "text|json|stream-json",
    group: "Input and output",
    help: "text: the answer. json: one result object. stream-json: one JSON object a line as things happen.",
  },
  {
    name: "json",
    type: "boolean",
    group: "Input and output",
    help: "The same as --output-format stream-json.",
  },
  {
    name: "include-partial-messages",
    type: "boolean",
    group: "Input and output",
    help: "With stream-json: also the pieces of an answer as they arrive.",
  },
  {
    name: "input-format",
    type: "text",
    value: "text|stream-json",
    group: "Input and output",
    help: "stream-json: user messages as JSON lines on standard input, answered one after the other. Needs --output-format stream-json.",
  },
  {
    name: "json-schema",
    type: "text",
    value: "FILE|JSON",
    group: "Input and output",
    help: "JSON Schema the answer must fit; the answer is then a JSON value.",
  },
  {
    name: "output-last-message",
    short: "o",
    type: "text",
    value: "FILE",
    group: "Input and output",
    help: "Also write the answer to a file.",
  },
  ...settingFlags("Permission"),
  {
    name: "yolo",
    type: "boolean",
    group: "Permission",
    help: "The same as --permission-mode bypassPermissions: every tool call runs. For places you can lose.",
  },
  ...settingFlags("Limits"),
  { name: "cwd", short: "C", type: "text", value: "FOLDER", group: "Place", help: "Work in this folder." },
  {
    name: "add-dir",
    type: "list",
    value: "FOLDER",
    group: "Place",
    help: "A further folder that counts as inside the workspace.",
  },
  {
    name: "verbose",
    type: "boolean",
    group: "Input and output",
    help: "Say on standard error, line by line, what happens: requests, tool calls, decisions.",
  },
  { name: "help", short: "h", type: "boolean", group: "Other", help: "Show this help." },
  { name: "version", short: "v", type: "boolean", group: "Other", help: "Show the version." },
];

/** The options of a group that settings have. */
function settingFlags(group: SettingFlag["group"]): readonly FlagSpec[] {
  return PLACED_SETTINGS.flatMap(({ setting }) => {
    const { type, flag, help = "" } = setting;
    if (flag?.group !== group) return [];
    const kind = flag.value === undefined ? "boolean" : type === "strings" ? "list" : "text";
    return [{ help, ...flag, type: kind }];
  });
}
