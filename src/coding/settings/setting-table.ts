import { type OptionSchema, optionSchema } from "../../core/base/check-options.ts";
import { PERMISSION_MODES } from "../../permission/permission-mode.ts";
import { serverEffect } from "../project/acting-files.ts";
import {
  type ConfigFile,
  EXTRA_TOOLS,
  PATTERN_NAMES,
  type PermissionConfig,
  SANDBOX_MODES,
  SCREEN_THEMES,
} from "./config-schema.ts";
import {
  allowEffect,
  callLimitEffect,
  hooksEffect,
  modeEffect,
  type ProjectRule,
  providerEffect,
  shortJson,
} from "./project-rules.ts";
import { NETWORK, PROVIDER, VARIABLE_NAME } from "./provider-settings.ts";
import { DURATION, jsonSchema, type PlacedSetting, placedSettings, type Setting } from "./setting.ts";

export type TopSetting<T> = Setting<T> & {
  /** The effect of this setting in a project's file. */
  readonly project: ProjectRule<Exclude<T, undefined>>;
  /** How layers combine, so that none permits what another denies. Default: the nearer one wins. */
  readonly layers?: "adds" | "by entry";
};

const TEXT = { type: "string" } as const;
const CLOSED = { type: "object", additionalProperties: false } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const SWITCH = { type: "boolean" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const FROM_ONE = { type: "integer", minimum: 1 } as const;

const PERMISSIONS: Setting<PermissionConfig> = {
  ...CLOSED,
  help: "Rules such as `bash(git status*)`; deny overrides ask, ask overrides allow.",
  properties: {
    allow: { ...TEXTS, help: "Runs without asking." },
    ask: { ...TEXTS, help: "Asks." },
    deny: { ...TEXTS, help: "Never runs." },
  },
};

/**
 * Every setting: its values, option, variable, help, and its effect in a project's file. Checks, help,
 * completions and the reference are generated from this table.
 */
export const SETTINGS: { readonly [K in keyof Required<ConfigFile>]: TopSetting<ConfigFile[K]> } = {
  $schema: { ...TEXT, project: "counts", help: "For editors; has no effect." },
  model: {
    type: "string",
    pattern: String.raw`\S`,
    "x-say": 'a name such as "anthropic/claude-sonnet-4-5"',
    default: "the default model of the first provider with a key; otherwise a local server, if you agree",
    variable: "NANO_AGENT_MODEL",
    flag: {
      name: "model",
      short: "m",
      value: "PROVIDER/ID[:EFFORT]",
      group: "Run",
      help: "Model to use, e.g. anthropic/claude-sonnet-4-5 or openai/gpt-5:high. Effort: none, minimal, low, medium, high, xhigh.",
    },
    project: { waits: (value) => `sends the conversation to ${value}` },
    help: "Model to use, with an optional `:EFFORT`.",
  },
  fallbackModels: {
    ...TEXTS,
    project: { waits: (value) => `sends the conversation to ${value.join(", ")} where the model fails` },
    help: "Models that take over, in order, when the previous one fails permanently.",
  },
  pattern: {
    enum: PATTERN_NAMES,
    default: "the plain loop",
    flag: {
      name: "pattern",
      value: "NAME",
      group: "Run",
      help: "Agent pattern: simple, react, plan or reflection. Default: the plain loop.",
    },
    project: { waits: (value) => `works in the pattern ${value}` },
    help: "Agent pattern.",
  },
  extraTools: {
    type: "array",
    items: { enum: EXTRA_TOOLS },
    flag: { name: "extra-tools", value: "NAMES", group: "Run" },
    project: { waits: (value) => `gives the model ${value.join(", ")}` },
    help: "Additional tools: todo (the model's own list of steps), web_fetch (pages as Markdown).",
  },
  systemPrompt: {
    ...TEXT,
    flag: { name: "system-prompt", value: "TEXT|@FILE", group: "Run" },
    project: { waits: (value) => `tells the model, in place of the usual: ${shortJson(value)}` },
    help: "Replaces the built-in system prompt.",
  },
  appendSystemPrompt: {
    ...TEXT,
    flag: { name: "append-system-prompt", value: "TEXT|@FILE", group: "Run" },
    project: { waits: (value) => `tells the model: ${shortJson(value)}` },
    help: "Added to the system prompt.",
  },
  permissionMode: {
    enum: PERMISSION_MODES,
    default: "`default`; the screen asks at the first start in a folder",
    variable: "NANO_AGENT_PERMISSION_MODE",
    flag: { name: "permission-mode", value: "MODE", group: "Permission" },
    project: {
      judge: modeEffect,
      words: "a narrower one counts, a wider one once trusted, `bypassPermissions` never",
    },
    help: "plan (reads only), dontAsk, default (reads inside the workspace), acceptEdits (edits inside the workspace too), auto (commands in the sandbox too), bypassPermissions.",
  },
  allowedTools: {
    ...TEXTS,
    flag: { name: "allowed-tools", value: "NAMES", group: "Permission" },
    project: { waits: allowEffect },
    help: "Tools that run without asking, e.g. bash,edit, or part of a tool: 'bash(npm test*),edit(src/**)'.",
  },
  disallowedTools: {
    ...TEXTS,
    flag: { name: "disallowed-tools", value: "NAMES", group: "Permission" },
    project: "counts",
    layers: "adds",
    help: "Tools, or parts of them, that never run. Overrides everything else.",
  },
  permissions: {
    ...PERMISSIONS,
    project: {
      each: (name, rules) => (name === "allow" ? { does: allowEffect(rules) } : "counts"),
      words: "`ask` and `deny` count, `allow` once trusted",
    },
    layers: "by entry",
  },
  environment: {
    ...CLOSED,
    project: "never",
    layers: "by entry",
    help: "Additional variables for commands.",
    properties: {
      pass: {
        ...TEXTS,
        flag: { name: "pass-env", value: "NAMES", group: "Permission" },
        help: "Additional variables for commands, e.g. GITHUB_TOKEN or 'AWS_*'.",
      },
      set: {
        type: "object",
        additionalProperties: {
          type: "string",
          pattern: String.raw`^[^\0]*$`,
          "x-say": "a string without NUL",
        },
        propertyNames: { pattern: VARIABLE_NAME, "x-say": "the name of an environment variable" },
        help: "Variables with your own values.",
      },
    },
  },
  redact: {
    ...SWITCH,
    default: "`true`",
    project: "never",
    help: "`false` leaves secrets in results, errors and exports.",
  },
  sandbox: {
    ...CLOSED,
    project: "never",
    layers: "by entry",
    help: "The sandbox of commands.",
    properties: {
      mode: {
        enum: SANDBOX_MODES,
        default: "`auto`",
        flag: { name: "sandbox", value: "on|auto|off", group: "Permission" },
        help: "Confine commands to the workspace and temporary files, without network and keys. auto: if it works. on: or run nothing.",
      },
      allowWrite: { ...TEXTS, help: "Additional writable folders and files." },
      denyRead: { ...TEXTS, help: "Unreadable folders and files." },
      loopback: { ...SWITCH, default: "`false`", help: "macOS: commands can reach ports of this machine." },
    },
  },
  maxTurns: {
    ...FROM_ONE,
    flag: {
      name: "max-turns",
      value: "N",
      group: "Limits",
      help: "Limit of model requests per run; with a plan or reflection, per phase. Exit 53 when reached.",
    },
    project: "up to yours",
    help: "Limit of model requests per run; with a plan or reflection, per phase.",
  },
  maxBudgetUsd: {
    type: "number",
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    flag: {
      name: "max-budget-usd",
      value: "USD",
      group: "Limits",
      help: "Budget of the session, including earlier runs. Exit 55 when used up.",
    },
    project: "up to yours",
    help: "Budget of a session.",
  },
  maxWallTime: {
    ...DURATION,
    flag: {
      name: "max-wall-time",
      value: "TIME",
      group: "Limits",
      help: "Time limit of the run: 90s, 10m, 1h. Exit 124 when reached.",
    },
    project: "up to yours",
    help: "Time limit of a run.",
  },
  until: {
    type: "string",
    flag: {
      name: "until",
      value: "CMD",
      group: "Limits",
      help: "After each answer run CMD in the sandbox; the run ends when it exits with 0, otherwise its output goes back to the model.",
    },
    project: "never",
    help: "Shell command that must exit with 0 before a run ends.",
  },
  untilMax: {
    ...FROM_ONE,
    default: "10",
    flag: {
      name: "until-max",
      value: "N",
      group: "Limits",
      help: "How often --until may go back to the model. Default: 10.",
    },
    project: "never",
    help: "How often a failure of `until` goes back to the model.",
  },
  maxCallsPerAnswer: {
    ...FROM_ONE,
    default: "128",
    project: {
      judge: callLimitEffect,
      words: "up to yours; more once trusted",
    },
    help: "Limit of calls per answer.",
  },
  loopGuard: {
    ...CLOSED,
    project: "never",
    help: "When a model that repeats itself is stopped.",
    properties: {
      stopAt: { ...COUNT, minimum: 3, default: "5", help: "Repetitions after which the run ends." },
      window: {
        ...COUNT,
        default: "12",
        help: "Calls after which a cycle of two to four calls ends the run; 0 turns this off.",
      },
    },
  },
  toolCalls: {
    enum: ["native", "text"],
    default: "`native`",
    variable: "NANO_AGENT_TOOL_CALLS",
    project: { waits: (value) => `has the model write its calls as ${value}` },
    help: "`text`: calls are written in the answer, for models without native tool calls.",
  },
  compaction: {
    ...CLOSED,
    type: ["object", "boolean"],
    not: { const: true },
    "x-say": "an object or false",
    default: "near the end of the window",
    project: { waits: (value) => `changes when older messages are left out: ${shortJson(value)}` },
    help: "When and how a conversation is compacted; `false`: never.",
    properties: {
      at: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: 1,
        default: "0.8",
        help: "Share of the window that triggers it.",
      },
      keep: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: 0.9,
        default: "0.2",
        help: "Share of the window for the newest messages, which are kept unchanged.",
      },
      keepTurns: { ...COUNT, default: "1", help: "Answers that are always kept." },
      window: { ...FROM_ONE, default: "the model's", help: "Tokens of the window." },
      reserve: { ...COUNT, help: "Tokens reserved for an answer." },
    },
  },
  undo: {
    ...SWITCH,
    default: "`true`",
    flag: {
      name: "no-undo",
      group: "Session",
      negates: true,
      help: "Do not store old file contents; nano-agent undo cannot revert the run.",
    },
    project: "never",
    help: "`false` stores nothing for undo.",
  },
  undoLimits: {
    ...CLOSED,
    project: "never",
    help: "Limits of what is stored for undo.",
    properties: {
      maxFileMb: { type: "number", exclusiveMinimum: 0, default: "32", help: "Size of one file." },
      maxStoreMb: {
        type: "number",
        exclusiveMinimum: 0,
        default: "1024",
        help: "Disk space per workspace.",
      },
      maxFiles: { ...FROM_ONE, default: "200,000", help: "Files that are scanned." },
    },
  },
  memory: {
    ...CLOSED,
    project: "never",
    help: "What is remembered across sessions.",
    properties: {
      longTerm: {
        enum: ["static", "agent", "both"],
        default: "nothing is remembered",
        help: "`static`: runs retrieve and record. `agent`: the model does, with tools.",
      },
    },
  },
  providers: {
    type: "object",
    additionalProperties: PROVIDER,
    propertyNames: {
      pattern: String.raw`^[a-z0-9][a-z0-9._-]*$`,
      "x-say": "made of lower-case letters, digits, dots, _ and -",
    },
    project: { each: providerEffect, words: "new ones with a key of their own name, once trusted" },
    layers: "by entry",
    help: "Additional providers, or changes to known ones, by name.",
  },
  network: {
    ...NETWORK,
    project: {
      each: (name, value) => (name === "proxy" ? "never" : { does: `sets ${name} to ${shortJson(value)}` }),
      words: "each once trusted, `proxy` never",
    },
    layers: "by entry",
  },
  webFetch: {
    ...CLOSED,
    project: { waits: ({ privateHosts = [] }) => `lets web_fetch reach ${privateHosts.join(", ")}` },
    help: "What `web_fetch` may reach.",
    properties: {
      privateHosts: { ...TEXTS, help: "Hosts of this machine and of private networks, e.g. `localhost`." },
    },
  },
  mcpServers: {
    type: "object",
    additionalProperties: {},
    project: {
      each: (_name, server) => ({ kind: "mcp_server", does: serverEffect(server) }),
      words: "each once trusted",
    },
    layers: "by entry",
    help: "MCP servers by name, in the format of `.mcp.json`.",
  },
  mcp: {
    ...CLOSED,
    project: { waits: (value) => `changes which tools of MCP servers are shown: ${shortJson(value)}` },
    help: "How MCP servers are used.",
    properties: {
      defer: {
        ...SWITCH,
        default: "`true`",
        help: "`false` lists every tool of every server, however many there are.",
      },
    },
  },
  hooks: {
    type: "object",
    additionalProperties: {},
    project: { each: hooksEffect, words: "each event once trusted" },
    layers: "by entry",
    help: "Commands that run at events, by event.",
  },
  extensions: {
    ...TEXTS,
    project: "never",
    help: "Packages or files with extensions.",
  },
  openTelemetry: {
    ...CLOSED,
    project: "never",
    help: "If set, even to {}, runs are reported to the OpenTelemetry providers of the process.",
    properties: {
      captureContent: {
        ...SWITCH,
        default: "`false`",
        help: "`true` includes texts, arguments and results.",
      },
    },
  },
  theme: {
    enum: SCREEN_THEMES,
    default: "`auto`: after the background of the terminal",
    project: "never",
    help: "The colours of the screen.",
  },
  notifications: {
    ...SWITCH,
    default: "`true`",
    project: "never",
    help: "`false`: no bell and no notification when you are away.",
  },
  keys: {
    type: "object",
    additionalProperties: TEXTS,
    propertyNames: { pattern: String.raw`^[a-z]+(?:-[a-z]+)*$`, "x-say": "lower-case words with dashes" },
    project: "never",
    help: 'Keys of the screen\'s actions, instead of the defaults: `{ "queue": ["ctrl+s"] }`.',
  },
  folders: {
    type: "object",
    additionalProperties: {
      ...CLOSED,
      properties: {
        permissionMode: { enum: PERMISSION_MODES, help: "The mode there." },
        permissions: PERMISSIONS,
      },
    },
    project: "never",
    help: 'Settings for single working folders, by real path: the mode you chose at the first start, and rules you added with "always".',
  },
};

export const SETTINGS_SCHEMA: OptionSchema = optionSchema(jsonSchema({ ...CLOSED, properties: SETTINGS }));

export const PLACED_SETTINGS: readonly PlacedSetting[] = placedSettings(SETTINGS);
