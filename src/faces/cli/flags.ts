/** Names of the options of a run. */
export type FlagName =
  | "print"
  | "plain"
  | "model"
  | "pattern"
  | "extra-tools"
  | "system-prompt"
  | "append-system-prompt"
  | "continue"
  | "resume"
  | "fork-session"
  | "from"
  | "session-id"
  | "no-session"
  | "no-undo"
  | "output-format"
  | "json"
  | "include-partial-messages"
  | "input-format"
  | "json-schema"
  | "output-last-message"
  | "permission-mode"
  | "yolo"
  | "allowed-tools"
  | "disallowed-tools"
  | "pass-env"
  | "sandbox"
  | "max-turns"
  | "max-budget-usd"
  | "max-wall-time"
  | "cwd"
  | "add-dir"
  | "mcp-config"
  | "strict-mcp-config"
  | "verbose"
  | "help"
  | "version";

/** One option of the command line. */
export interface FlagSpec {
  readonly name: FlagName;
  readonly short?: string;
  /** `list`: may be given several times. `optional`: a value may follow. */
  readonly type: "boolean" | "text" | "list" | "optional";
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly group: "Run" | "Session" | "Input and output" | "Permission" | "Limits" | "Place" | "Other";
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
  {
    name: "model",
    short: "m",
    type: "text",
    value: "PROVIDER/ID[:EFFORT]",
    group: "Run",
    help: "Model to use, e.g. anthropic/claude-sonnet-4-5 or openai/gpt-5:high. Effort: none, minimal, low, medium, high, xhigh.",
  },
  {
    name: "pattern",
    type: "text",
    value: "NAME",
    group: "Run",
    help: "How to work: simple, react, plan or reflection. Default: the plain loop.",
  },
  {
    name: "extra-tools",
    type: "list",
    value: "NAMES",
    group: "Run",
    help: "Tools beside those that are always there: todo (the model's own list of steps), web_fetch (pages as Markdown).",
  },
  {
    name: "system-prompt",
    type: "text",
    value: "TEXT|@FILE",
    group: "Run",
    help: "Replaces the built-in system prompt.",
  },
  {
    name: "append-system-prompt",
    type: "text",
    value: "TEXT|@FILE",
    group: "Run",
    help: "Added to the system prompt.",
  },
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
  {
    name: "no-undo",
    type: "boolean",
    group: "Session",
    help: "Do not keep what the run changes in files, so that nano-agent undo cannot put it back.",
  },
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
  {
    name: "permission-mode",
    type: "text",
    value: "MODE",
    group: "Permission",
    help: "plan (reads only), dontAsk, default (reads inside the workspace), acceptEdits (edits inside the workspace too), bypassPermissions.",
  },
  {
    name: "yolo",
    type: "boolean",
    group: "Permission",
    help: "The same as --permission-mode bypassPermissions: every tool call runs. For places you can lose.",
  },
  {
    name: "allowed-tools",
    type: "list",
    value: "NAMES",
    group: "Permission",
    help: "Tools that may run without being asked about, e.g. bash,edit, or a part of one: 'bash(npm test*),edit(src/**)'.",
  },
  {
    name: "disallowed-tools",
    type: "list",
    value: "NAMES",
    group: "Permission",
    help: "Tools, or parts of them, that never run. Wins over everything else.",
  },
  {
    name: "pass-env",
    type: "list",
    value: "NAMES",
    group: "Permission",
    help: "Variables that commands see beside the usual ones, e.g. GITHUB_TOKEN or 'AWS_*'.",
  },
  {
    name: "sandbox",
    type: "text",
    value: "on|auto|off",
    group: "Permission",
    help: "Confine commands to the workspace and the temporary folder, without network. on: or refuse to start. auto: where it works.",
  },
  {
    name: "max-turns",
    type: "text",
    value: "N",
    group: "Limits",
    help: "Model requests the run may make; with a plan or reflection, each phase. Exit 53 when they are used up.",
  },
  {
    name: "max-budget-usd",
    type: "text",
    value: "USD",
    group: "Limits",
    help: "Money the session may spend, runs before -c included. Exit 55 when it is used up.",
  },
  {
    name: "max-wall-time",
    type: "text",
    value: "TIME",
    group: "Limits",
    help: "Time the run may take: 90s, 10m, 1h. Exit 124 when it is over.",
  },
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
