import { action, type CommandSpec, command } from "./read-options.ts";

const JSON_OPTION = { "--json": "Print one JSON value." };
const ALL = { "--all": "Sessions of every folder." };
const FORCE = { "--force": "Also revert files that were changed since." };
const DRY_RUN = { "--dry-run": "Show what would be done." };
const TASKS = {
  "--task NAME": "Only this task. May be given several times.",
  "--tag TAG": "Only tasks with this tag. May be given several times.",
};
const SESSION = { "--session ID": "Session to use. Default: the newest of this folder." };
const DATABASE = {
  "--database URL": "Database of the runs, postgres://…. Default: NANO_AGENT_DATABASE_URL.",
  "--schema NAME": "Its PostgreSQL schema. Default: nano_agent.",
};
const PROJECT = { "--project": "In .mcp.json of this folder instead, for everyone who works on it." };

export const COMMANDS: readonly CommandSpec[] = [
  command(
    "demo",
    "Watch the agent repair a small project in a scratch folder. Needs no key.",
    action("", "The model is scripted, unless one is named; everything else is what a run has.", {
      "--keep": "Keep the scratch folder.",
      "-m, --model PROVIDER/ID": "Use a real model instead of the scripted one.",
    }),
  ),
  command(
    "models",
    "List providers, whether they have a key, and their known models.",
    action("[PROVIDER]", "All providers, or one.", JSON_OPTION),
  ),
  command(
    "sessions",
    "List, find, show, export, replay, import, compact, verify or remove sessions.",
    action("list", "The sessions of this folder, the newest first.", { ...ALL, ...JSON_OPTION }),
    action("find TEXT…", "The sessions that contain a text.", { ...ALL, ...JSON_OPTION }),
    action("show [ID]", "What happened in a session, step by step. Default: the newest of this folder.", {
      "--stats": "Show tokens, cost and time instead.",
      ...JSON_OPTION,
    }),
    action(
      "export [ID]",
      "Write a conversation as Markdown or JSON, or the whole session as one HTML page. Secrets are redacted.",
      {
        "--format markdown|json|html": "Default: markdown.",
        "--markdown": "Same as --format markdown.",
        "--json": "Same as --format json.",
        "-o, --output FILE": "Write to a file that only you can read.",
      },
    ),
    action("replay [ID]", "Replay a session from its journal, without a model, and report differences.", {
      "--from N": "Compare from step N on.",
      "--live-tools": "Run the tools again instead of using their recorded results.",
      "--workspace FOLDER": "Folder for live tools to copy. Default: the workspace of the session.",
      "--allowed-tools NAMES": "Tools that run without asking.",
      "--yolo": "Every live tool call runs.",
      ...JSON_OPTION,
    }),
    action("import FILE…", "Import sessions of Claude Code, Codex or pi.", {
      "--again": "Import again what was already imported into this folder.",
      ...JSON_OPTION,
    }),
    action("compact [ID]", "Compact the conversation of a session.", {
      "--preview": "Show what would happen.",
      "--undo": "Undo the newest compaction.",
      ...JSON_OPTION,
    }),
    action(
      "verify FILE…",
      "Check session files, or sessions by id, and print one JSON line each. Exit 1 if one is damaged.",
      JSON_OPTION,
    ),
    action("rm ID", "Remove a session and its undo data."),
  ),
  command(
    "undo",
    "Restore files to their state before a turn, or list the turns that changed files.",
    action(
      "[TURN] -- PATH…",
      "TURN is a number such as 2 or 2.3 from --list. Default: the newest turn that changed files.",
      { "--list": "List the turns.", ...FORCE, ...DRY_RUN, ...JSON_OPTION, ...SESSION },
    ),
  ),
  command(
    "redo",
    "Reverse the newest undo.",
    action("", "Restores the files as they were before the newest undo.", {
      ...FORCE,
      ...DRY_RUN,
      ...JSON_OPTION,
      ...SESSION,
    }),
  ),
  command(
    "memory",
    "List, search or forget what is remembered across sessions.",
    action("list", "The newest records.", JSON_OPTION),
    action("search WORD…", "The best matching records.", JSON_OPTION),
    action("forget ID…", "Remove records by id, as printed by list.", JSON_OPTION),
  ),
  command(
    "auth",
    "Check whether the provider accepts the key.",
    action(
      "check [PROVIDER]",
      "Sends one request of a few tokens to the current model, or to a provider's default model.",
      JSON_OPTION,
    ),
  ),
  command(
    "config",
    "Show the effective settings and where each comes from.",
    action("", "Possible secrets are masked.", JSON_OPTION),
  ),
  command(
    "agents",
    "List the subagents of this folder, their origin, and invalid definitions.",
    action("list", "Built-in ones, your own and those of the project.", JSON_OPTION),
  ),
  command(
    "skills",
    "List the skills of this folder, their origin, and invalid ones.",
    action("list", "Your own and those of the project.", JSON_OPTION),
  ),
  command(
    "extensions",
    "List the extensions of this folder, what each adds, and invalid ones.",
    action("list", "Your own and those of the project.", JSON_OPTION),
  ),
  command(
    "import-settings",
    "Import rules, hooks, MCP servers, commands, subagents and skills from another agent.",
    action(
      "AGENT",
      "AGENT is claude, codex, gemini or opencode. Shows what would be imported and what cannot be, and asks before it does.",
      { "--yes": "Import without asking.", ...JSON_OPTION },
    ),
  ),
  command(
    "permissions",
    "Show what the permission rules decide about a command, or list the built-in rules.",
    action(
      "check ['COMMAND']",
      "With a COMMAND in quotes: the decision of your rules in this folder. Without: answers JSON lines { tool, input, rules?, … } from standard input, one line each.",
      JSON_OPTION,
    ),
    action("defaults", "The built-in rules.", JSON_OPTION),
  ),
  command(
    "mcp",
    "List, add, remove, test or log in to MCP servers.",
    action(
      "list",
      "Starts every server of this folder; shows its status and what its tools cost in tokens per request.",
      JSON_OPTION,
    ),
    action("get NAME", "One server: its definition and its tools.", JSON_OPTION),
    action(
      "add NAME [URL] -- COMMAND…",
      "A server at a URL, or one started by a command. Stored in your settings.",
      {
        ...PROJECT,
        "--header 'NAME: TEXT'": "A header of every request; ${VARIABLE} is expanded.",
        "--env NAME=TEXT": "A variable of the process; ${VARIABLE} is expanded.",
        "--transport http|sse": "Transport for a URL. Default: http, with a fallback to sse.",
      },
    ),
    action("remove NAME", "Remove a server from your settings.", { ...PROJECT }),
    action(
      "test NAME [TOOL] [JSON]",
      "Start a server, and call one of its tools. Exit 1 if that fails.",
      JSON_OPTION,
    ),
    action("login NAME", "Log in to a server with OAuth, in your browser."),
    action("logout NAME", "Forget that login."),
    {
      ...action(
        "serve",
        "Serve MCP: the tools run, resume and sessions. Default: on standard input and output. Calls that no rule allows are refused.",
        {
          "--http PORT": "Serve http://127.0.0.1:PORT/mcp (0: a free port), with a token that is printed.",
          "--tools": "Also serve the built-in tools.",
        },
      ),
      runOptions: true,
    },
  ),
  command(
    "trust",
    "Show what in this project can act, and approve it.",
    action(
      "[FOLDER]",
      "Allow rules, providers, MCP servers, skills with scripts and the like. Later changes need approval again.",
      {
        "--yes": "Approve without asking.",
        "--list": "List the folders with approvals.",
        "--remove": "Withdraw the approval of a folder.",
        ...JSON_OPTION,
      },
    ),
  ),
  command(
    "doctor",
    "Check what a run needs: Node, tools, settings, keys, local model servers.",
    action("", "Sends no request to a provider. Exit 1 if a run could not start.", JSON_OPTION),
  ),
  command("acp", "Serve an editor over the Agent Client Protocol, on standard input and output.", {
    ...action(
      "",
      "Started by the editor. Sessions are shared with the terminal; the options apply to all of them.",
    ),
    runOptions: true,
  }),
  command("serve", "Serve a page, and an API, to look at sessions, follow them and start new ones.", {
    ...action(
      "",
      "Prints the address with a token, and serves until it is interrupted; its runs end with it. What is given here holds for all sessions.",
      {
        "--port PORT": "Default: 4040. 0: a free one.",
        "--host HOST": "Default: 127.0.0.1. Another one lets other machines ask, and needs a token.",
        "--token TOKEN":
          "At least 20 characters. Default: made up. Others on this machine can read it in the list of processes.",
        "--token-file FILE": "A file with the token.",
        "--open": "Open the page in your browser.",
        "--read-only": "Start, send and answer nothing.",
      },
    ),
    runOptions: true,
  }),
  command(
    "eval",
    "Measure how well models solve tasks of your own, and compare the results.",
    {
      ...action(
        "SUITE…",
        "Runs every task of the suites in a scratch copy, and lets its check say whether it was solved. -m may be given several times; --max-budget-usd is for all runs together, --max-turns and --max-wall-time for each. Exit 0 when every run solved its task, else 1.",
        {
          "--repeat K": "Runs of each task with each model. Default: 1.",
          "--jobs N": "Runs at the same time. Default: 1.",
          "-o, --output FOLDER":
            "Where results, page and sessions go. If it has results: continues with the missing ones. Default: a new one here.",
          ...TASKS,
          "--list": "Show the tasks, and run none.",
          "--keep": "Keep the scratch folder of each run.",
          ...JSON_OPTION,
        },
      ),
      runOptions: true,
    },
    action(
      "compare A B",
      "Compares the results in two folders task by task, and says whether the difference is more than chance.",
      JSON_OPTION,
    ),
    action(
      "validate SUITE…",
      "Proves that the check of each task fails as long as nothing was done, and passes with its reference. Asks no model. Exit 1 where that is not so.",
      { "--jobs N": "Tasks at the same time. Default: 1.", ...TASKS, ...JSON_OPTION },
    ),
  ),
  command(
    "worker",
    "Work on durable runs, until it is interrupted.",
    action(
      "",
      "Takes runs of its agents from the database, alongside any number of other workers. SIGINT and SIGTERM release them, for others to continue.",
      {
        "--config FILE":
          "A module whose default export is the options of createFleet (agents, databaseUrl, …), or a function that gives them.",
        "--concurrency N": "Runs in progress at the same time. Default: what the options say, else 50.",
      },
    ),
  ),
  command(
    "runs",
    "List, show, cancel, retry or approve durable runs.",
    action("list", "The newest runs.", {
      ...DATABASE,
      "--state queued|working|waiting|ended": "Only runs in this state.",
      "--agent NAME": "Only runs of this agent.",
      "--limit N": "Maximum number. Default: 50.",
      ...JSON_OPTION,
    }),
    action("show ID", "The state of a run, what it waits for, and its newest journal entries.", {
      ...DATABASE,
      ...JSON_OPTION,
    }),
    action("cancel ID", "End a run, wherever it is.", {
      ...DATABASE,
      "--reason TEXT": "Reason, for its journal.",
    }),
    action("retry ID", "Resume a run that failed, or whose version no worker has.", DATABASE),
    action("approve ID CALL", "Approve a pending call; show lists them.", {
      ...DATABASE,
      "--deny": "Refuse it instead.",
      "--reason TEXT": "With --deny: the reason, for the model.",
    }),
  ),
  command(
    "completion",
    "Print a script that completes commands and options in your shell.",
    action("bash", 'Add to ~/.bashrc: eval "$(nano-agent completion bash)"'),
    action("zsh", 'Add to ~/.zshrc, after compinit: eval "$(nano-agent completion zsh)"'),
    action("fish", "nano-agent completion fish > ~/.config/fish/completions/nano-agent.fish"),
  ),
];
