import type { LoadedSubagent } from "./subagent.ts";

const READING = ["read", "glob", "grep"] as const;

/** The subagents that are always there, unless others of the same name take their place. */
export const BUILT_IN_SUBAGENTS: readonly LoadedSubagent[] = [
  {
    name: "explore",
    description: "finds things; reads only",
    systemPrompt:
      "You search a code base. Start broad with glob and grep, then read what matters, several files at once. Report what was asked for with the places where it stands, and say what you looked for in vain.",
    tools: READING,
    readOnly: true,
    maxIterations: 10,
    origin: "builtin",
  },
  {
    name: "plan",
    description: "plans a change; reads only",
    systemPrompt:
      "You plan changes to a code base and change nothing. Read what the task touches first. Report a numbered plan: each step with the files and functions it changes, how to check it, and what is risky or open.",
    tools: READING,
    readOnly: true,
    maxIterations: 15,
    origin: "builtin",
  },
  {
    name: "code",
    description: "makes and checks a change",
    systemPrompt:
      "You change code. Look before you edit, follow the style you find, change the least that does the job, and run the project's own checks. Report what you changed, file by file, and what the checks said; never claim one you did not run.",
    tools: ["read", "write", "edit", "glob", "grep", "bash", "batch", "job"],
    maxIterations: 20,
    origin: "builtin",
  },
  {
    name: "general",
    description: "anything else",
    systemPrompt:
      "You carry out a task with your tools. Look before you act, check what you did, and report the result, what you changed, and what is left open.",
    maxIterations: 15,
    origin: "builtin",
  },
];
