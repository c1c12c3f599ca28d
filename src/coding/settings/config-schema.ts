import type { WireName } from "../../core/message/message.ts";
import type { SummaryCompactionOptions } from "../../memory/context/summary-compaction.ts";
import type { LongTermMemoryMode } from "../../memory/long-term-memory.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { NetworkConfig } from "../../providers/network-options.ts";

/** The ways an agent can work, by the names used in settings. */
export const PATTERN_NAMES = ["simple", "react", "plan", "reflection"] as const;

/**
 * `simple`: the loop, with an answer for every case · `react`: with written thoughts and a finish tool ·
 * `plan`: a plan, its steps in sequence, an answer from all of them · `reflection`: reviews and improves its
 * own answer.
 */
export type PatternName = (typeof PATTERN_NAMES)[number];

/** Every {@link ExtraTool}. */
export const EXTRA_TOOLS = ["todo", "web_fetch"] as const;

/** Optional tools of the terminal agent: each costs tokens with every request. */
export type ExtraTool = (typeof EXTRA_TOOLS)[number];

/** The modes of confining commands: always, if the system supports it, or never. */
export const SANDBOX_MODES = ["on", "auto", "off"] as const;

/** `on`: commands run in the sandbox or not at all · `auto`: in the sandbox if it works · `off`: never. */
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** A model of a custom provider. Prices are in USD per million tokens. */
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

/** A provider the package does not know, or a known one at another address. */
export interface ProviderConfig {
  readonly wire?: WireName;
  readonly baseUrl?: string;
  /** Name of the variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly headers?: { readonly [name: string]: string };
  /** Deviations of its server from the wire format. */
  readonly quirks?: { readonly [name: string]: boolean | string };
  readonly models?: { readonly [id: string]: ModelConfig };
}

/** Permission rules such as `bash(git status*)`; deny wins over ask, ask over allow. */
export interface PermissionConfig {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** Settings for compacting a conversation that outgrows its model. */
export type CompactionConfig = Pick<
  SummaryCompactionOptions,
  "at" | "keep" | "keepTurns" | "window" | "reserve"
>;

/** Limits on the data stored for undo. A megabyte is 1,048,576 bytes. */
export interface UndoLimits {
  readonly maxFileMb?: number;
  readonly maxStoreMb?: number;
  readonly maxFiles?: number;
}

/** Variables that commands see in addition to the built-in ones. */
export interface EnvironmentConfig {
  /** Names, or prefixes ending in `*`. */
  readonly pass?: readonly string[];
  readonly set?: { readonly [name: string]: string };
}

/** Sandbox settings, and paths commands may reach besides the workspace and temporary folder. */
export interface SandboxConfig {
  readonly mode?: SandboxMode;
  /** Folders and files commands may write to. */
  readonly allowWrite?: readonly string[];
  /** Folders and files commands may not read. */
  readonly denyRead?: readonly string[];
  /** macOS: commands can reach ports of this machine. */
  readonly loopback?: boolean;
}

/** Addresses that `web_fetch` may reach. */
export interface WebFetchConfig {
  /** Hosts of this machine and of private networks, e.g. `localhost`. */
  readonly privateHosts?: readonly string[];
}

/** Content that is reported to OpenTelemetry. */
export interface OpenTelemetryConfig {
  /** `true` includes texts, arguments and results. Default false. */
  readonly captureContent?: boolean;
}

/** Settings of the memory across sessions. */
export interface MemoryConfig {
  /** `static`: runs retrieve and record. `agent`: the model does, with tools. `both`. Default: neither. */
  readonly longTerm?: LongTermMemoryMode;
}

/** Settings for the use of MCP servers. */
export interface McpConfig {
  /** False: every tool of every server is offered in full. Default: many tools wait behind `find_tools`. */
  readonly defer?: boolean;
}

/** The settings of a config file. Every field is optional. */
export interface ConfigFile {
  readonly $schema?: string;
  readonly model?: string;
  readonly fallbackModels?: readonly string[];
  /** Default: the plain loop. */
  readonly pattern?: PatternName;
  /** Tools in addition to the standard ones. */
  readonly extraTools?: readonly ExtraTool[];
  readonly webFetch?: WebFetchConfig;
  /** If set, even to `{}`, runs are reported to the OpenTelemetry providers of the process. */
  readonly openTelemetry?: OpenTelemetryConfig;
  readonly memory?: MemoryConfig;
  /** MCP servers by name, in the format of `.mcp.json`. Each is checked when it is used. */
  readonly mcpServers?: { readonly [name: string]: unknown };
  readonly mcp?: McpConfig;
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly permissions?: PermissionConfig;
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  readonly maxWallTime?: string;
  /** A shell command that must exit with code 0 before a run ends. */
  readonly until?: string;
  /** Failed rounds after which the run gives up. Default 10. */
  readonly untilMax?: number;
  /** Limit of calls per answer. Default 128. */
  readonly maxCallsPerAnswer?: number;
  /** `text`: calls are written in the answer, for models without native tool calls. Default `native`. */
  readonly toolCalls?: "native" | "text";
  /** Limits at which a model that repeats itself is stopped. */
  readonly loopGuard?: { readonly stopAt?: number; readonly window?: number };
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** False: never. Default: near the end of the window. */
  readonly compaction?: CompactionConfig | false;
  /** False: changes made by tool calls are not kept for undo. Default true. */
  readonly undo?: boolean;
  readonly undoLimits?: UndoLimits;
  readonly network?: NetworkConfig;
  readonly providers?: { readonly [name: string]: ProviderConfig };
  readonly environment?: EnvironmentConfig;
  /** `false` leaves secrets in results, errors and exports. Default true. */
  readonly redact?: boolean;
  readonly sandbox?: SandboxConfig;
  /** Commands that run at events, by event; see docs/command-hooks.md. Checked when used. */
  readonly hooks?: { readonly [event: string]: unknown };
  /** Packages (or file paths) that hold extensions. Only valid in the user's own file. */
  readonly extensions?: readonly string[];
  /** The colours of the screen. Default `auto`: follows the terminal's background. */
  readonly theme?: ScreenTheme;
  /** False: no bell and no notification when the person is away. Default true. */
  readonly notifications?: boolean;
  /** Keys that replace the default ones of the screen's actions: `{ "queue": ["ctrl+s"] }`. */
  readonly keys?: { readonly [action: string]: readonly string[] };
  /** Settings for one working folder, by its real path. Only valid in the user's own file. */
  readonly folders?: { readonly [path: string]: FolderConfig };
}

/** Themes of the screen. */
export const SCREEN_THEMES = ["auto", "dark", "light", "ansi"] as const;
/** A theme of the screen. */
export type ScreenTheme = (typeof SCREEN_THEMES)[number];

/** Settings of one working folder: the answers a person chose to keep there. */
export interface FolderConfig {
  readonly permissionMode?: PermissionMode;
  readonly permissions?: PermissionConfig;
}
