import type { LongTermMemoryMode } from "../../core/agent/long-term-memory.ts";
import type { WireName } from "../../core/message/block.ts";
import { EXTRA_TOOLS, type ExtraTool } from "./extra-tool.ts";
import { PATTERN_NAMES, type PatternName } from "./pattern-name.ts";
import { PERMISSION_MODES, type PermissionMode } from "./permission-mode.ts";
import { QUIRKS_SHAPE } from "./quirks-shape.ts";
import { SANDBOX_MODES, type SandboxMode } from "./sandbox-mode.ts";
import type { Shape } from "./shape.ts";

/** Settings of the network, as config files hold them. Milliseconds, 0 switches a timeout off. */
export interface NetworkConfig {
  readonly headerTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly firstEventTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly maxRetries?: number;
  readonly maxRetryAfterMs?: number;
  readonly maxAnswerChars?: number;
  readonly proxy?: { readonly http?: string; readonly https?: string; readonly noProxy?: string };
}

/** A model of a custom provider. Prices are USD per million tokens. */
export interface ModelConfig {
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly price?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
}

/** A provider the package does not know, or one at another address. */
export interface ProviderConfig {
  readonly wire?: WireName;
  readonly baseUrl?: string;
  /** Name of the variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly headers?: { readonly [name: string]: string };
  /** How its server deviates from the wire format. */
  readonly quirks?: { readonly [name: string]: boolean | string };
  readonly models?: { readonly [id: string]: ModelConfig };
}

/** Permission rules such as `bash(git status*)`; deny wins over ask, ask over allow. */
export interface PermissionConfig {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** When and how a conversation that outgrows its model is compacted; see `summaryCompaction`. */
export interface CompactionConfig {
  readonly at?: number;
  readonly keep?: number;
  readonly keepTurns?: number;
  readonly window?: number;
  readonly reserve?: number;
}

/** How much is kept for undo. Megabytes are 1,048,576 bytes. */
export interface UndoLimits {
  readonly maxFileMb?: number;
  readonly maxStoreMb?: number;
  readonly maxFiles?: number;
}

/** Which variables commands see beside the built-in ones. */
export interface EnvironmentConfig {
  /** Names, or beginnings of names with `*` behind them. */
  readonly pass?: readonly string[];
  readonly set?: { readonly [name: string]: string };
}

/** What commands may reach beside the workspace and the temporary folder, and whether they are confined at all. */
export interface SandboxConfig {
  readonly mode?: SandboxMode;
  /** Hosts commands may talk to: `example.com`, `*.example.com`. */
  readonly allowDomains?: readonly string[];
  /** Folders and files commands may write to. */
  readonly allowWrite?: readonly string[];
  /** Folders and files commands may not read. */
  readonly denyRead?: readonly string[];
}

/** What `web_fetch` may reach. */
export interface WebFetchConfig {
  /** Hosts of this machine and of private networks, e.g. `localhost`. */
  readonly privateHosts?: readonly string[];
}

/** What is told to OpenTelemetry. */
export interface OpenTelemetryConfig {
  /** True tells texts, arguments and results too. Default false. */
  readonly captureContent?: boolean;
}

/** What is remembered across sessions. */
export interface MemoryConfig {
  /** `static`: runs retrieve and record. `agent`: the model does, with tools. `both`. Default: nothing is remembered. */
  readonly longTerm?: LongTermMemoryMode;
}

/** How MCP servers are used. */
export interface McpConfig {
  /** False: every tool of every server is offered in full. Default: many tools wait behind `find_tools`. */
  readonly defer?: boolean;
}

/** What a config file may say. Every field is optional. */
export interface ConfigFile {
  readonly $schema?: string;
  readonly model?: string;
  readonly fallbackModels?: readonly string[];
  /** Default: the plain loop. */
  readonly pattern?: PatternName;
  /** Tools beside those that are always there. */
  readonly extraTools?: readonly ExtraTool[];
  readonly webFetch?: WebFetchConfig;
  /** There: runs are told to the OpenTelemetry providers of the process. */
  readonly openTelemetry?: OpenTelemetryConfig;
  readonly memory?: MemoryConfig;
  /** MCP servers by name, as `.mcp.json` holds them. Each is checked on its own where it is used. */
  readonly mcpServers?: { readonly [name: string]: unknown };
  readonly mcp?: McpConfig;
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly permissions?: PermissionConfig;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  readonly maxWallTime?: string;
  /** Calls of one answer that are looked at. Default 128. */
  readonly maxCallsPerAnswer?: number;
  /** `text`: calls stand in the text of the answer, for models that have no other way. Default `native`. */
  readonly toolCalls?: "native" | "text";
  /** When a model that repeats itself is stopped. */
  readonly loopGuard?: { readonly stopAt?: number; readonly window?: number };
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** False: never. Default: near the end of the window. */
  readonly compaction?: CompactionConfig | false;
  /** False: what tool calls change is not kept. Default true. */
  readonly undo?: boolean;
  readonly undoLimits?: UndoLimits;
  readonly network?: NetworkConfig;
  readonly providers?: { readonly [name: string]: ProviderConfig };
  readonly environment?: EnvironmentConfig;
  /** False leaves secrets in results, errors and exports. Default true. */
  readonly redact?: boolean;
  readonly sandbox?: SandboxConfig;
  /** Commands that run at events, by event; see docs/command-hooks.md. What is in it is checked where it is used. */
  readonly hooks?: { readonly [event: string]: unknown };
  /** Packages (or paths of files) that hold extensions. Counts in the user's own file alone. */
  readonly extensions?: readonly string[];
  /** How the screen is dressed. Default `auto`: after the background of the terminal. */
  readonly theme?: ScreenTheme;
  /** False: the screen calls nobody who is away, with no bell and no notification. Default true. */
  readonly notifications?: boolean;
  /** Keys of the screen's actions, in the place of the usual ones: `{ "queue": ["ctrl+s"] }`. */
  readonly keys?: { readonly [action: string]: readonly string[] };
  /** What holds in one working folder only, by its real path. Counts in the user's own file alone. */
  readonly folders?: { readonly [path: string]: FolderConfig };
}

/** Names of the dresses of the screen. */
export const SCREEN_THEMES = ["auto", "dark", "light", "ansi"] as const;
/** Name of a dress of the screen. */
export type ScreenTheme = (typeof SCREEN_THEMES)[number];

/** Settings of one working folder: rules that a person answered "always" with. */
export interface FolderConfig {
  readonly permissions?: PermissionConfig;
}

const WIRE_NAMES: readonly WireName[] = ["anthropic", "openai_chat", "openai_responses", "google"];
const MILLISECONDS: Shape = { type: "number", minimum: 0 };
const PRICE: Shape = { type: "number", minimum: 0 };
const TOKENS: Shape = { type: "number", minimum: 1, integer: true };

const MODEL: Shape = {
  type: "object",
  fields: {
    contextWindow: TOKENS,
    maxOutputTokens: TOKENS,
    price: {
      type: "object",
      fields: { input: PRICE, output: PRICE, cacheRead: PRICE, cacheWrite: PRICE },
      required: ["input", "output"],
    },
  },
};

const PROVIDER: Shape = {
  type: "object",
  fields: {
    wire: { type: "string", oneOf: WIRE_NAMES },
    baseUrl: { type: "string", pattern: /^https?:\/\/[^\s/]/, form: "an http:// or https:// address" },
    apiKeyEnv: {
      type: "string",
      pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
      form: "the name of an environment variable",
    },
    headers: {
      type: "map",
      of: { type: "string", pattern: /^[^\r\n\0]*$/, form: "one line of text" },
      key: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
    },
    quirks: QUIRKS_SHAPE,
    models: { type: "map", of: MODEL },
  },
};

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const TEXT: Shape = { type: "string" };
const TEXTS: Shape = { type: "strings" };

const PERMISSIONS: Shape = { type: "object", fields: { allow: TEXTS, ask: TEXTS, deny: TEXTS } };

const FIELDS: { readonly [K in keyof Required<ConfigFile>]: Shape } = {
  $schema: TEXT,
  model: { type: "string", pattern: /\S/, form: 'a name such as "anthropic/claude-sonnet-4-5"' },
  fallbackModels: TEXTS,
  pattern: { type: "string", oneOf: PATTERN_NAMES },
  extraTools: { type: "strings", oneOf: EXTRA_TOOLS },
  openTelemetry: { type: "object", fields: { captureContent: { type: "boolean" } } },
  webFetch: { type: "object", fields: { privateHosts: TEXTS } },
  memory: { type: "object", fields: { longTerm: { type: "string", oneOf: ["static", "agent", "both"] } } },
  mcpServers: { type: "map", of: { type: "any" } },
  mcp: { type: "object", fields: { defer: { type: "boolean" } } },
  permissionMode: { type: "string", oneOf: PERMISSION_MODES },
  allowedTools: TEXTS,
  disallowedTools: TEXTS,
  permissions: PERMISSIONS,
  maxTurns: { type: "number", minimum: 1, integer: true },
  maxBudgetUsd: { type: "number", above: 0 },
  maxCallsPerAnswer: { type: "number", minimum: 1, integer: true },
  toolCalls: { type: "string", oneOf: ["native", "text"] },
  maxWallTime: { type: "duration" },
  loopGuard: {
    type: "object",
    fields: {
      stopAt: { type: "number", minimum: 3, integer: true },
      window: { type: "number", minimum: 0, integer: true },
    },
  },
  systemPrompt: TEXT,
  appendSystemPrompt: TEXT,
  compaction: {
    type: "object",
    orFalse: true,
    fields: {
      at: { type: "number", above: 0, maximum: 1 },
      keep: { type: "number", above: 0, maximum: 0.9 },
      keepTurns: { type: "number", minimum: 0, integer: true },
      window: TOKENS,
      reserve: { type: "number", minimum: 0, integer: true },
    },
  },
  undo: { type: "boolean" },
  undoLimits: {
    type: "object",
    fields: {
      maxFileMb: { type: "number", above: 0 },
      maxStoreMb: { type: "number", above: 0 },
      maxFiles: { type: "number", minimum: 1, integer: true },
    },
  },
  network: {
    type: "object",
    fields: {
      headerTimeoutMs: MILLISECONDS,
      idleTimeoutMs: MILLISECONDS,
      firstEventTimeoutMs: MILLISECONDS,
      requestTimeoutMs: MILLISECONDS,
      maxRetries: { type: "number", minimum: 0, integer: true },
      maxRetryAfterMs: MILLISECONDS,
      maxAnswerChars: TOKENS,
      proxy: { type: "object", fields: { http: TEXT, https: TEXT, noProxy: TEXT } },
    },
  },
  providers: { type: "map", of: PROVIDER, key: /^[a-z0-9][a-z0-9._-]*$/ },
  folders: { type: "map", of: { type: "object", fields: { permissions: PERMISSIONS } } },
  environment: {
    type: "object",
    fields: {
      pass: TEXTS,
      set: { type: "map", of: { type: "string", pattern: /^[^\0]*$/, form: "a text" }, key: VARIABLE },
    },
  },
  redact: { type: "boolean" },
  hooks: { type: "map", of: { type: "any" } },
  extensions: TEXTS,
  theme: { type: "string", oneOf: SCREEN_THEMES },
  notifications: { type: "boolean" },
  keys: { type: "map", of: TEXTS, key: /^[a-z]+(?:-[a-z]+)*$/ },
  sandbox: {
    type: "object",
    fields: {
      mode: { type: "string", oneOf: SANDBOX_MODES },
      allowDomains: TEXTS,
      allowWrite: TEXTS,
      denyRead: TEXTS,
    },
  },
};

/** The shape of a config file. */
export const CONFIG_SHAPE: Shape = { type: "object", fields: FIELDS };
