import type { AgentOptions } from "../../src/agent/options.ts";
import type { Hook, HookPoint } from "../../src/hooks/hook.ts";
import { hangs, type LibraryFault, odd, throws, throwsText } from "./library-fault.ts";

/** Points a run passes; those of `observe` are tried in a test of their own. */
const POINTS = [
  "pre_reply",
  "post_reply",
  "pre_reasoning",
  "post_reasoning",
  "pre_acting",
  "post_acting",
  "pre_print",
  "post_print",
] as const satisfies readonly HookPoint[];

const tools = [odd(() => "ran")];

function hooked(point: HookPoint, hook: unknown): Partial<AgentOptions> {
  return { tools, hooks: { [point]: hook as Hook<HookPoint> } };
}

function named(point: HookPoint, what: string | RegExp): RegExp {
  return new RegExp(
    `The hook "${point}" of ${point} failed: ${typeof what === "string" ? what : what.source}`,
  );
}

/** Hooks that do what no hook should, at each point. */
export const FAULTS_OF_HOOKS: readonly LibraryFault[] = POINTS.flatMap((point) => [
  {
    scenario: `a hook that throws (\`${point}\`)`,
    outcome: "the run fails; names the hook and the point",
    agent: () => hooked(point, throws),
    stopReason: "error",
    error: named(point, "odd code threw"),
  } satisfies LibraryFault,
  {
    scenario: `a hook that throws a string (\`${point}\`)`,
    outcome: "the run fails; names the hook and the point",
    agent: () => hooked(point, throwsText),
    stopReason: "error",
    error: named(point, "a text"),
  } satisfies LibraryFault,
  {
    scenario: `a hook that rejects (\`${point}\`)`,
    outcome: "the run fails; names the hook and the point",
    agent: () => hooked(point, () => Promise.reject(new Error("odd code rejected"))),
    stopReason: "error",
    error: named(point, /it returned a promise|odd code rejected/),
  } satisfies LibraryFault,
  {
    scenario: `a hook that returns an invalid value (\`${point}\`)`,
    outcome: point === "post_print" ? "is ignored" : "the run fails; names the hook and the point",
    agent: () => hooked(point, () => 5),
    ...(point === "post_print"
      ? { stopReason: "completed", told: "ran" }
      : { stopReason: "error", error: named(point, "it returned a number") }),
  } satisfies LibraryFault,
  ...(point.endsWith("print") ? [] : [neverSettling(point), neverSettlingInTime(point)]),
]);

function neverSettling(point: HookPoint): LibraryFault {
  return {
    scenario: `a hook that never settles, stopped (\`${point}\`)`,
    outcome: "ends with the run",
    agent: (begun) => hooked(point, hangs(begun)),
    stopReason: "aborted",
    stopped: true,
  };
}

function neverSettlingInTime(point: HookPoint): LibraryFault {
  return {
    scenario: `a hook that never settles, with a wall time (\`${point}\`)`,
    outcome: "ends with the run",
    agent: (begun) => ({ ...hooked(point, hangs(begun)), budget: { wallTimeMs: 50 } }),
    stopReason: "budget",
  };
}

/** Hooks that take the process with them. */
export const FAULTS_OF_EXITS: readonly LibraryFault[] = [
  {
    scenario: "a hook that calls `process.exit`",
    outcome: "the session can be resumed; the model is told that the outcome is unknown",
    agent: () => hooked("post_acting", () => process.exit(7)),
    stopReason: "process",
    slow: true,
    told: "interrupted, outcome unknown",
  },
];

/** Everything else that is plugged into an agent, doing what it should not. */
export const FAULTS_OF_PORTS: readonly LibraryFault[] = [
  ...(["throws", "rejects", "answers nothing", "answers a number"] as const).map(
    (what): LibraryFault => ({
      scenario: `a permission that ${what}`,
      outcome: "the call is refused; the model is told",
      agent: () => ({ tools, permission: { check: oddAnswer(what) } }),
      stopReason: "completed",
      told: "was not approved",
    }),
  ),
  ...(["throws", "rejects", "answers nothing", "answers a number"] as const).map(
    (what): LibraryFault => ({
      scenario: `an approver that ${what}`,
      outcome: "the call is refused; the model is told",
      agent: () => ({ tools, permission: asking, approve: oddAnswer(what) }),
      stopReason: "completed",
      told: "was not approved",
    }),
  ),
  {
    scenario: "a permission that never answers, stopped",
    outcome: "the call does not run",
    agent: (begun) => ({ tools, permission: { check: hangs(begun) } }),
    stopReason: "aborted",
    stopped: true,
    told: "interrupted before it ran",
  },
  {
    scenario: "an approver that never answers, stopped",
    outcome: "the call does not run",
    agent: (begun) => ({ tools, permission: asking, approve: hangs(begun) }),
    stopReason: "aborted",
    stopped: true,
    told: "interrupted before it ran",
  },
  {
    scenario: "a checkpointer that throws before a call",
    outcome: "the call does not run; the model is told why",
    agent: () => ({ tools, checkpointer: { before: throws, after: async () => [] } }),
    stopReason: "completed",
    told: "Not run: odd code threw",
  },
  {
    scenario: "a checkpointer that throws after a call",
    outcome: "a warning; the result counts",
    agent: () => ({ tools, checkpointer: { before: async () => undefined, after: throws } }),
    stopReason: "completed",
    told: "ran",
    warns: "could not be recorded for undo: odd code threw",
  },
  {
    scenario: "a checkpointer that never answers before a call, stopped",
    outcome: "the call does not run",
    agent: (begun) => ({ tools, checkpointer: { before: hangs(begun), after: async () => [] } }),
    stopReason: "aborted",
    stopped: true,
    told: "interrupted before it ran",
  },
  {
    scenario: "a checkpointer that never answers after a call, stopped",
    outcome: "ends with the run; the result counts",
    agent: (begun) => ({ tools, checkpointer: { before: async () => undefined, after: hangs(begun) } }),
    slow: true,
    stopReason: "aborted",
    stopped: true,
    told: "ran",
  },
  {
    scenario: "a redaction that throws",
    outcome: "the result is withheld; the model is told; the run continues",
    agent: () => ({ tools, redact: { text: throws, stream: () => ({ push: throws, flush: throws }) } }),
    stopReason: "completed",
    told: "withheld",
  },
  {
    scenario: "a compaction that throws",
    outcome: "a warning; the conversation is unchanged",
    agent: () => ({ tools, compaction: { isNeeded: async () => true, compact: throws, preview: throws } }),
    stopReason: "completed",
    warns: "odd code threw",
    told: "ran",
  },
  {
    scenario: "a compaction that never ends, stopped",
    outcome: "ends with the run; the conversation is unchanged",
    agent: (begun) => ({
      tools,
      compaction: { isNeeded: async () => true, compact: hangs(begun), preview: throws },
    }),
    slow: true,
    stopReason: "aborted",
    stopped: true,
  },
  {
    scenario: "a long-term memory that throws",
    outcome: "a warning; the run continues without it",
    agent: () => ({ tools, longTermMemory: { store: { record: throws, retrieve: throws }, mode: "static" } }),
    stopReason: "completed",
    warns: "the run continues without it: odd code threw",
    told: "ran",
  },
  {
    scenario: "a long-term memory that never answers",
    outcome: "stopped at its time limit; a warning; the run continues without it",
    agent: (begun) => ({
      tools,
      longTermMemory: {
        store: { record: hangs(begun), retrieve: hangs(begun) },
        mode: "static",
        timeoutMs: 20,
      },
    }),
    stopReason: "completed",
    warns: "the run continues without it",
    told: "ran",
  },
  {
    scenario: "a long-term memory that never answers, stopped",
    outcome: "ends with the run",
    agent: (begun) => ({
      tools,
      longTermMemory: { store: { record: hangs(begun), retrieve: hangs(begun) }, mode: "static" },
    }),
    stopReason: "aborted",
    stopped: true,
  },
  {
    scenario: "a model that never answers and ignores the signal, stopped",
    outcome: "ends with the run",
    agent: (begun) => ({ model: { provider: "odd", id: "odd", stream: () => silent(begun) } }),
    slow: true,
    stopReason: "aborted",
    stopped: true,
  },
  {
    scenario: "a model that throws something other than an error",
    outcome: "the run fails with the thrown value",
    agent: () => ({ model: { provider: "odd", id: "odd", stream: () => silent(throwsText) } }),
    stopReason: "error",
    error: "a text",
  },
  {
    scenario: "an `onMaxIterations` that throws",
    outcome: "the run fails with its error",
    agent: () => ({ tools, maxIterations: 1, onMaxIterations: throws }),
    stopReason: "error",
    error: "odd code threw",
    told: "ran",
  },
  {
    scenario: "an `onMaxIterations` that never settles, stopped",
    outcome: "ends with the run",
    agent: (begun) => ({ tools, maxIterations: 1, onMaxIterations: hangs(begun) }),
    stopReason: "aborted",
    stopped: true,
    told: "ran",
  },
];

/** Parts that never come. */
function silent(begun: () => void): AsyncIterable<never> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        begun();
        return new Promise(() => undefined);
      },
    }),
  };
}

const asking = { check: () => ({ action: "ask", reason: "it is odd" }) as const };

function oddAnswer(what: "throws" | "rejects" | "answers nothing" | "answers a number"): () => never {
  const answers = {
    throws,
    rejects: () => Promise.reject(new Error("odd code rejected")),
    "answers nothing": () => undefined,
    "answers a number": () => 5,
  };
  return answers[what] as () => never;
}
