import { action, type CommandSpec, command } from "./read-options.ts";

const JSON_OPTION = { "--json": "One JSON value for programs." };
const ALL = { "--all": "The sessions of every folder." };
const FORCE = { "--force": "Also where files were changed since by somebody else." };
const DRY_RUN = { "--dry-run": "Say what would be done, and do nothing." };
const TASKS = {
  "--task NAME": "Only this task. May be given several times.",
  "--tag TAG": "Only tasks with this tag. May be given several times.",
};
const SESSION = { "--session ID": "The session to work on. Default: the newest of this folder." };
const DATABASE = {
  "--database URL": "postgres://… of the runs. Default: NANO_AGENT_DATABASE_URL.",
  "--schema NAME": "The PostgreSQL schema they are in. Default: nano_agent.",
};
const PROJECT = { "--project": "In .mcp.json of this folder instead, for everybody who works on it." };

export const COMMANDS: readonly CommandSpec[] = [
  command(
    "demo",
    "Watch the agent repair a small project in a scratch folder. Needs no key.",
    action("", "The model is scripted, unless one is named; everything else is what a run has.", {
      "--keep": "Keep the scratch folder.",
      "-m, --model PROVIDER/ID": "A real model instead of the scripted one.",
    }),
  ),
  command(
    "models",
    "List the providers, which of them have a key, and the models known of them.",
    action("[PROVIDER]", "All providers, or one.", JSON_OPTION),
  ),
  command(
    "sessions",
    "List, search, show, export, replay, import, compact, verify or remove sessions.",
    action("list", "The sessions of this folder, the newest first.", {
      ...ALL,
      "--search TEXT": "Only those in which this is said.",
      ...JSON_OPTION,
    }),
    action("find TEXT…", "The sessions in which a text is said.", { ...ALL, ...JSON_OPTION }),
    action("show [ID]", "What happened in a session, step by step. Default: the newest of this folder.", {
      "--stats": "Tokens, cost and time instead.",
      ...JSON_OPTION,
    }),
    action(
      "export [ID]",
      "Write a conversation as Markdown or JSON, or all that happened as one HTML page. Secrets are taken out.",
      {
        "--format markdown|json|html": "Default: markdown.",
        "--markdown": "The same as --format markdown.",
        "--json": "The same as --format json.",
        "-o, --output FILE": "Write to a file, readable by you alone.",
      },
    ),
    action("replay [ID]", "Run a session again from its journal, without a model, and say what differs.", {
      "--from N": "Compare from step N on.",
      "--live-tools": "Run the tools again instead of taking their stored results.",
      "--workspace FOLDER": "Where live tools work. Default: a copy that is thrown away.",
      "--allowed-tools NAMES": "Tools that may run without being asked about.",
      "--yolo": "Every live tool call runs.",
      ...JSON_OPTION,
    }),
    action("import FILE…", "Take over sessions of Claude Code, Codex or pi.", {
      "--again": "Also what is a session of this folder already.",
      ...JSON_OPTION,
    }),
    action("compact [ID]", "Make room in the conversation of a session.", {
      "--preview": "Say what would happen.",
      "--undo": "Take the newest compaction back.",
      ...JSON_OPTION,
    }),
    action(
      "verify FILE…",
      "Check session files, or sessions by their ids, and write one JSON line each. Exit 1 where damage is found.",
      JSON_OPTION,
    ),
    action("rm ID", "Remove a session, and the files kept for its undo."),
  ),
  command(
    "undo",
    "Put files back to how they were before a turn, or list the turns that changed files.",
    action(
      "[TURN] -- PATH…",
      "TURN is a number such as 2 or 2.3 from --list. Default: the newest turn that changed files.",
      { "--list": "List the turns.", ...FORCE, ...DRY_RUN, ...JSON_OPTION, ...SESSION },
    ),
  ),
  command(
    "redo",
    "Take the newest undo back.",
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
    action("search WORD…", "The records that fit best.", JSON_OPTION),
    action("forget ID…", "Remove records by the ids that list prints.", JSON_OPTION),
  ),
  command(
    "auth",
    "Ask the provider whether the key in use is accepted.",
    action(
      "check [PROVIDER]",
      "One request of a few tokens to the model in use, or to the default model of a provider.",
      JSON_OPTION,
    ),
  ),
  command(
    "config",
    "Show the settings in force and where each comes from.",
    action("", "What may be a secret is masked.", JSON_OPTION),
  ),
  command(
    "agents",
    "List the subagents of this folder, where each comes from, and definitions that cannot be used.",
    action("list", "Built-in ones, your own and those of the project.", JSON_OPTION),
  ),
  command(
    "skills",
    "List the skills of this folder, where each comes from, and those that cannot be used.",
    action("list", "Your own and those of the project.", JSON_OPTION),
  ),
  command(
    "extensions",
    "List the extensions of this folder, what each brings, and those that cannot be used.",
    action("list", "Your own and those of the project.", JSON_OPTION),
  ),
  command(
    "import-settings",
    "Take over rules, hooks, MCP servers, commands, subagents and skills from another agent.",
    action(
      "AGENT",
      "AGENT is claude, codex, gemini or opencode. Shows what would be taken over and what cannot, and does it once you agree.",
      { "--yes": "Do it at once.", ...JSON_OPTION },
    ),
  ),
  command(
    "permissions",
    "Say what the permission rules decide about a command, or list the built-in rules.",
    action(
      "check ['COMMAND']",
      "With a COMMAND in quotes: what your rules say about it in this folder. Without: answers JSON lines { tool, input, rules?, … } on standard input, one line each.",
      JSON_OPTION,
    ),
    action("defaults", "The built-in rules.", JSON_OPTION),
  ),
  command(
    "mcp",
    "List, add, remove or try MCP servers, log in to one.",
    action(
      "list",
      "Starts every server of this folder and says how it does, and what its tools cost in tokens in each request.",
      JSON_OPTION,
    ),
    action("get NAME", "One server: its definition and its tools.", JSON_OPTION),
    action(
      "add NAME [URL] -- COMMAND…",
      "A server at a URL, or one that a command starts. Kept in your settings.",
      {
        ...PROJECT,
        "--header 'NAME: TEXT'": "A header of every request; ${VARIABLE} is put in.",
        "--env NAME=TEXT": "A variable of the process; ${VARIABLE} is put in.",
        "--transport http|sse":
          "How a URL is spoken to. Default: http, and sse where the server knows no other.",
      },
    ),
    action("remove NAME", "Take a server out of your settings.", { ...PROJECT }),
    action(
      "test NAME [TOOL] [JSON]",
      "Start a server, and call one of its tools. Exit 1 where that does not work.",
      JSON_OPTION,
    ),
    action("login NAME", "Log in to a server that wants OAuth, in your browser."),
    action("logout NAME", "Forget that login."),
    {
      ...action(
        "serve",
        "Be an MCP server: tools run, resume and sessions. Default: on standard input and output. What no rule allows is refused.",
        {
          "--http PORT": "At /mcp of this port of 127.0.0.1 (0: a free one), with a token that is printed.",
          "--tools": "Offer the built-in tools too.",
        },
      ),
      runOptions: true,
    },
  ),
  command(
    "trust",
    "Show what this project brings that can act, and approve it.",
    action(
      "[FOLDER]",
      "Rules that allow, providers, MCP servers, skills with scripts and the like. What changes later is asked about again.",
      {
        "--yes": "Approve at once.",
        "--list": "List the folders in which something was approved.",
        "--remove": "Take the approval of a folder back.",
        ...JSON_OPTION,
      },
    ),
  ),
  command(
    "doctor",
    "Check what a run needs: Node, tools, settings, keys, local model servers.",
    action("", "Asks no provider. Exit 1 where something stands in the way of a run.", JSON_OPTION),
  ),
  command("acp", "Serve an editor that speaks the Agent Client Protocol, on standard input and output.", {
    ...action(
      "",
      "The editor starts it. Sessions are the same as everywhere; what is given here holds for all of them.",
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
            "Where results, page and sessions go. With results in it: goes on with what has none. Default: a new one here.",
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
      "Takes up the runs of its agents from the database, beside any number of other workers. SIGINT and SIGTERM let go of them, for others to go on.",
      {
        "--config FILE":
          "A module whose default export is the options of createFleet (agents, databaseUrl, …), or a function that gives them.",
        "--concurrency N": "Runs at work at the same time. Default: what the options say, else 50.",
      },
    ),
  ),
  command(
    "runs",
    "List, show, cancel, retry or approve durable runs.",
    action("list", "The newest runs.", {
      ...DATABASE,
      "--state queued|working|waiting|ended": "Only those that stand so.",
      "--agent NAME": "Only those of this agent.",
      "--limit N": "Most of them. Default: 50.",
      ...JSON_OPTION,
    }),
    action("show ID", "How a run stands, what it waits for, and the newest entries of its journal.", {
      ...DATABASE,
      ...JSON_OPTION,
    }),
    action("cancel ID", "End a run, wherever it is.", {
      ...DATABASE,
      "--reason TEXT": "Why, for its journal.",
    }),
    action(
      "retry ID",
      "Go on with a run that failed, or that no worker of its version is there for.",
      DATABASE,
    ),
    action("approve ID CALL", "Let a call run that waits for a yes; show names the calls.", {
      ...DATABASE,
      "--deny": "Refuse it instead.",
      "--reason TEXT": "With --deny: why, for the model.",
    }),
  ),
  command(
    "completion",
    "Print a script that completes commands and options in your shell.",
    action("bash", 'Add to ~/.bashrc: eval "$(nano-agent completion bash)"'),
    action("zsh", 'Add to ~/.zshrc, behind compinit: eval "$(nano-agent completion zsh)"'),
    action("fish", "nano-agent completion fish > ~/.config/fish/completions/nano-agent.fish"),
  ),
];
