import type { CommandContext } from "./command-context.ts";

/** A sub-command: the first word of the command line. */
export interface CommandSpec {
  readonly name: string;
  /** What follows the name. */
  readonly usage: string;
  readonly help: string;
  readonly load: () => Promise<Command>;
}

/** Does the work of a sub-command; `args` are the words after its name. Resolves to the exit code. */
export type Command = (context: CommandContext, args: readonly string[]) => Promise<number>;

/** The sub-commands, in the order the help shows them. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "demo",
    usage: "[--keep] [--model PROVIDER/ID]",
    help: "Watch the agent mend a small project in a scratch folder. Needs no key: its model is scripted, unless one is named.",
    load: async () => (await import("./small-commands.ts")).demo,
  },
  {
    name: "models",
    usage: "[PROVIDER] [--json]",
    help: "List the providers, which of them have a key, and the models known of them.",
    load: async () => (await import("./small-commands.ts")).models,
  },
  {
    name: "sessions",
    usage: "list|find|show|export|replay|import|compact|verify|rm …",
    help: "List the sessions of this folder (--all: of every folder) or find them by text, show or export one, run one again without a model, import one of another program, make room in one, check session files, remove one.",
    load: async () => (await import("./small-commands.ts")).sessions,
  },
  {
    name: "undo",
    usage: "[TURN] [--list] [--force] [--dry-run] [--json] [--session ID] [-- PATH…]",
    help: "Put files back to how they were before a turn (default: the newest that changed files), or list the turns.",
    load: async () => (await import("./small-commands.ts")).undo,
  },
  {
    name: "redo",
    usage: "[--force] [--dry-run] [--json] [--session ID]",
    help: "Take the newest undo back.",
    load: async () => (await import("./small-commands.ts")).redo,
  },
  {
    name: "memory",
    usage: "list|search|forget … [--json]",
    help: "List what is remembered across sessions, search it, or forget records by their ids.",
    load: async () => (await import("./small-commands.ts")).memory,
  },
  {
    name: "auth",
    usage: "check [PROVIDER] [--json]",
    help: "Ask the provider whether the key in use is accepted.",
    load: async () => (await import("./small-commands.ts")).auth,
  },
  {
    name: "config",
    usage: "[--json]",
    help: "Show the settings in force and where each comes from.",
    load: async () => (await import("./small-commands.ts")).config,
  },
  {
    name: "agents",
    usage: "list [--json]",
    help: "List the subagents of this folder, where each comes from, and definitions that cannot be used.",
    load: async () => (await import("./small-commands.ts")).agents,
  },
  {
    name: "skills",
    usage: "list [--json]",
    help: "List the skills of this folder, where each comes from, and those that cannot be used.",
    load: async () => (await import("./small-commands.ts")).skills,
  },
  {
    name: "permissions",
    usage: "check|defaults [--json]",
    help: "Answer JSON lines { tool, input, rules? } with what the permission rules say, or list the built-in rules.",
    load: async () => (await import("./small-commands.ts")).permissions,
  },
  {
    name: "trust",
    usage: "[FOLDER] [--yes|--list|--remove] [--json]",
    help: "Show what this project brings that can act (rules that allow, providers, MCP servers, skills with scripts, …), and approve it.",
    load: async () => (await import("./small-commands.ts")).trust,
  },
  {
    name: "doctor",
    usage: "[--json]",
    help: "Check what a run needs: Node, tools, settings, keys, local model servers.",
    load: async () => (await import("./small-commands.ts")).doctor,
  },
];

/** First words that later versions use. They are refused, so that a script does not start a run by accident. */
export const LATER_COMMANDS: readonly string[] = ["acp", "serve", "mcp"];
