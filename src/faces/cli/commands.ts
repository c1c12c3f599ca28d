import type { CommandSpec } from "./command-spec.ts";
import type { CommandOption } from "./read-options.ts";

const JSON_OPTION: CommandOption = { name: "--json", help: "One JSON value for programs." };
const ALL: CommandOption = { name: "--all", help: "The sessions of every folder." };
const FORCE: CommandOption = {
  name: "--force",
  help: "Also where files were changed since by somebody else.",
};
const DRY_RUN: CommandOption = { name: "--dry-run", help: "Say what would be done, and do nothing." };
const SESSION: CommandOption = {
  name: "--session",
  value: "ID",
  help: "The session to work on. Default: the newest of this folder.",
};

const PROJECT: CommandOption = {
  name: "--project",
  help: "In .mcp.json of this folder instead, for everybody who works on it.",
};

/** The sub-commands, in the order the help shows them. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "demo",
    help: "Watch the agent repair a small project in a scratch folder. Needs no key.",
    actions: [
      {
        options: [
          { name: "--keep", help: "Keep the scratch folder." },
          {
            name: "--model",
            short: "-m",
            value: "PROVIDER/ID",
            help: "A real model instead of the scripted one.",
          },
        ],
        help: "The model is scripted, unless one is named; everything else is what a run has.",
      },
    ],
  },
  {
    name: "models",
    help: "List the providers, which of them have a key, and the models known of them.",
    actions: [{ words: "[PROVIDER]", options: [JSON_OPTION], help: "All providers, or one." }],
  },
  {
    name: "sessions",
    help: "List, search, show, export, replay, import, compact, verify or remove sessions.",
    actions: [
      {
        name: "list",
        options: [
          ALL,
          { name: "--search", value: "TEXT", help: "Only those in which this is said." },
          JSON_OPTION,
        ],
        help: "The sessions of this folder, the newest first.",
      },
      {
        name: "find",
        words: "TEXT…",
        options: [ALL, JSON_OPTION],
        help: "The sessions in which a text is said.",
      },
      {
        name: "show",
        words: "[ID]",
        options: [{ name: "--stats", help: "Tokens, cost and time instead." }, JSON_OPTION],
        help: "What happened in a session, step by step. Default: the newest of this folder.",
      },
      {
        name: "export",
        words: "[ID]",
        options: [
          {
            name: "--format",
            value: "FORMAT",
            choices: ["markdown", "json", "html"],
            help: "Default: markdown.",
          },
          { name: "--markdown", help: "The same as --format markdown." },
          { name: "--json", help: "The same as --format json." },
          { name: "--output", short: "-o", value: "FILE", help: "Write to a file, readable by you alone." },
        ],
        help: "Write a conversation as Markdown or JSON, or all that happened as one HTML page. Secrets are taken out.",
      },
      {
        name: "replay",
        words: "[ID]",
        options: [
          { name: "--from", value: "N", help: "Go on from step N with a model." },
          { name: "--model", short: "-m", value: "PROVIDER/ID", help: "The model for --from." },
          { name: "--live-tools", help: "Run the tools again instead of taking their stored results." },
          {
            name: "--workspace",
            value: "FOLDER",
            help: "Where live tools work. Default: a copy that is thrown away.",
          },
          { name: "--allowed-tools", value: "NAMES", help: "Tools that may run without being asked about." },
          { name: "--yolo", help: "Every live tool call runs." },
          JSON_OPTION,
        ],
        help: "Run a session again from its journal, without a model, and say what differs.",
      },
      {
        name: "import",
        words: "FILE…",
        options: [JSON_OPTION],
        help: "Take over sessions of Claude Code, Codex or pi.",
      },
      {
        name: "compact",
        words: "[ID]",
        options: [
          { name: "--preview", help: "Say what would happen." },
          { name: "--undo", help: "Take the newest compaction back." },
          JSON_OPTION,
        ],
        help: "Make room in the conversation of a session.",
      },
      {
        name: "verify",
        words: "FILE…",
        options: [JSON_OPTION],
        help: "Check session files and write one JSON line each. Exit 1 where damage is found.",
      },
      { name: "rm", words: "ID", help: "Remove a session, and the files kept for its undo." },
    ],
  },
  {
    name: "undo",
    help: "Put files back to how they were before a turn, or list the turns that changed files.",
    actions: [
      {
        words: "[TURN]",
        behind: "PATH…",
        options: [{ name: "--list", help: "List the turns." }, FORCE, DRY_RUN, JSON_OPTION, SESSION],
        help: "TURN is a number such as 2 or 2.3 from --list. Default: the newest turn that changed files.",
      },
    ],
  },
  {
    name: "redo",
    help: "Take the newest undo back.",
    actions: [{ options: [FORCE, DRY_RUN, JSON_OPTION, SESSION], help: "As a whole." }],
  },
  {
    name: "memory",
    help: "List, search or forget what is remembered across sessions.",
    actions: [
      { name: "list", options: [JSON_OPTION], help: "The newest records." },
      { name: "search", words: "WORD…", options: [JSON_OPTION], help: "The records that fit best." },
      {
        name: "forget",
        words: "ID…",
        options: [JSON_OPTION],
        help: "Remove records by the ids that list prints.",
      },
    ],
  },
  {
    name: "auth",
    help: "Ask the provider whether the key in use is accepted.",
    actions: [
      {
        name: "check",
        words: "[PROVIDER]",
        options: [JSON_OPTION],
        help: "One request of a few tokens to the model in use, or to the default model of a provider.",
      },
    ],
  },
  {
    name: "config",
    help: "Show the settings in force and where each comes from.",
    actions: [{ options: [JSON_OPTION], help: "What may be a secret is masked." }],
  },
  {
    name: "agents",
    help: "List the subagents of this folder, where each comes from, and definitions that cannot be used.",
    actions: [
      { name: "list", options: [JSON_OPTION], help: "Built-in ones, your own and those of the project." },
    ],
  },
  {
    name: "skills",
    help: "List the skills of this folder, where each comes from, and those that cannot be used.",
    actions: [{ name: "list", options: [JSON_OPTION], help: "Your own and those of the project." }],
  },
  {
    name: "extensions",
    help: "List the extensions of this folder, what each brings, and those that cannot be used.",
    actions: [{ name: "list", options: [JSON_OPTION], help: "Your own and those of the project." }],
  },
  {
    name: "import-settings",
    help: "Take over rules, hooks, MCP servers, commands, subagents and skills from another agent.",
    actions: [
      {
        words: "AGENT",
        options: [{ name: "--yes", help: "Do it at once." }, JSON_OPTION],
        help: "AGENT is claude, codex, gemini or opencode. Shows what would be taken over and what cannot, and does it once you agree.",
      },
    ],
  },
  {
    name: "permissions",
    help: "Say what the permission rules decide about a command, or list the built-in rules.",
    actions: [
      {
        name: "check",
        words: "[COMMAND]",
        options: [JSON_OPTION],
        help: "With a COMMAND in quotes: what your rules say about it in this folder. Without: answers JSON lines { tool, input, rules?, … } on standard input, one line each.",
      },
      { name: "defaults", options: [JSON_OPTION], help: "The built-in rules." },
    ],
  },
  {
    name: "mcp",
    help: "List, add, remove or try MCP servers, log in to one.",
    actions: [
      {
        name: "list",
        options: [JSON_OPTION],
        help: "Starts every server of this folder and says how it does, and what its tools cost in tokens in each request.",
      },
      {
        name: "get",
        words: "NAME",
        options: [JSON_OPTION],
        help: "One server: its definition and its tools.",
      },
      {
        name: "add",
        words: "NAME [URL]",
        behind: "COMMAND…",
        options: [
          PROJECT,
          {
            name: "--header",
            value: "'NAME: TEXT'",
            help: "A header of every request; ${VARIABLE} is put in.",
          },
          { name: "--env", value: "NAME=TEXT", help: "A variable of the process; ${VARIABLE} is put in." },
          {
            name: "--transport",
            value: "KIND",
            choices: ["http", "sse"],
            help: "How a URL is spoken to. Default: http, and sse where the server knows no other.",
          },
        ],
        help: "A server at a URL, or one that a command starts. Kept in your settings.",
      },
      { name: "remove", words: "NAME", options: [PROJECT], help: "Take a server out of your settings." },
      {
        name: "test",
        words: "NAME [TOOL] [JSON]",
        options: [JSON_OPTION],
        help: "Start a server, and call one of its tools. Exit 1 where that does not work.",
      },
      { name: "login", words: "NAME", help: "Log in to a server that wants OAuth, in your browser." },
      { name: "logout", words: "NAME", help: "Forget that login." },
      {
        name: "serve",
        runOptions: true,
        options: [
          {
            name: "--http",
            value: "PORT",
            help: "At /mcp of this port of 127.0.0.1 (0: a free one), with a token that is printed.",
          },
          { name: "--tools", help: "Offer the built-in tools too." },
        ],
        help: "Be an MCP server: tools run, resume and sessions. Default: on standard input and output. What no rule allows is refused.",
      },
    ],
  },
  {
    name: "trust",
    help: "Show what this project brings that can act, and approve it.",
    actions: [
      {
        words: "[FOLDER]",
        options: [
          { name: "--yes", help: "Approve at once." },
          { name: "--list", help: "List the folders in which something was approved." },
          { name: "--remove", help: "Take the approval of a folder back." },
          JSON_OPTION,
        ],
        help: "Rules that allow, providers, MCP servers, skills with scripts and the like. What changes later is asked about again.",
      },
    ],
  },
  {
    name: "doctor",
    help: "Check what a run needs: Node, tools, settings, keys, local model servers.",
    actions: [
      {
        options: [JSON_OPTION],
        help: "Asks no provider. Exit 1 where something stands in the way of a run.",
      },
    ],
  },
  {
    name: "acp",
    help: "Serve an editor that speaks the Agent Client Protocol, on standard input and output.",
    actions: [
      {
        runOptions: true,
        help: "The editor starts it. Sessions are the same as everywhere; what is given here holds for all of them.",
      },
    ],
  },
  {
    name: "completion",
    help: "Print a script that completes commands and options in your shell.",
    actions: [
      { name: "bash", help: 'Add to ~/.bashrc: eval "$(nano-agent completion bash)"' },
      { name: "zsh", help: 'Add to ~/.zshrc, behind compinit: eval "$(nano-agent completion zsh)"' },
      { name: "fish", help: "nano-agent completion fish > ~/.config/fish/completions/nano-agent.fish" },
    ],
  },
];

/**
 * First words that later versions use. They are refused, so that a script does not start a run by accident.
 */
export const LATER_COMMANDS: readonly string[] = ["serve"];
