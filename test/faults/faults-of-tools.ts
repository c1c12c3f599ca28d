import type { ToolContext } from "../../src/core/tool/tool.ts";
import { calls, says } from "../../src/testing/script.ts";
import { createBashTools } from "../../src/tools/bash-tools.ts";
import { hangs, type LibraryFault, odd, throws } from "./library-fault.ts";

const cycle: { self?: unknown } = {};
cycle.self = cycle;

/** Gives a value, in a way that no type would allow. */
function gives(
  what: string,
  give: (context: ToolContext) => unknown,
  told: string | RegExp,
  more: Partial<LibraryFault> = {},
): LibraryFault {
  return {
    scenario: `a tool that ${what}`,
    outcome: "one result; the run continues",
    agent: () => ({ tools: [odd(give)] }),
    stopReason: "completed",
    told,
    ...more,
  };
}

/** Tools that do what no tool should. */
export const FAULTS_OF_TOOLS: readonly LibraryFault[] = [
  gives("throws", throws, "Error: odd code threw", {
    outcome: "an error result; the run continues",
  }),
  gives("rejects", () => Promise.reject(new Error("odd code rejected")), "Error: odd code rejected"),
  gives("throws a string", () => Promise.reject("a text"), "Error: a text"),
  gives("throws nothing", () => Promise.reject(undefined), "Error: undefined"),
  gives("throws an object", () => Promise.reject({ code: 7 }), '{\\"code\\":7}'),
  gives(
    "throws an error whose message throws",
    () => {
      throw Object.defineProperty(new Error("x"), "message", { get: throws });
    },
    "Error: an error that cannot be read",
  ),
  gives("returns nothing", () => undefined, "(no output)", {}),
  gives("returns a BigInt", () => ({ many: 10n }), '{\\"many\\":\\"10\\"}'),
  gives("returns a cycle", () => cycle, "cannot be serialised", {}),
  gives("returns a function", () => () => 1, "=> 1"),
  gives("returns a symbol", () => Symbol("s"), "Symbol(s)"),
  gives(
    "returns an object with a getter that throws",
    () => ({
      get x() {
        return throws();
      },
    }),
    "odd code threw",
  ),
  gives("returns an object with a `toJSON` that throws", () => ({ toJSON: throws }), "odd code threw"),
  gives(
    "returns a proxy that throws at everything",
    () => new Proxy({}, { get: throws, ownKeys: throws, has: throws, getPrototypeOf: throws }),
    /odd code threw|cannot be serialised/,
  ),
  gives(
    "returns a result whose content throws",
    () => ({
      content: {
        get length() {
          return throws();
        },
      },
    }),
    /./,
  ),
  gives("returns invalid blocks", () => ({ content: [{ type: "text" }, { type: "image" }, null] }), /./),
  gives("returns a text block whose text is a number", () => ({ content: [{ type: "text", text: 5 }] }), /5/),
  gives(
    "returns metadata that is not JSON",
    () => ({ content: "fine", metadata: { cycle, many: 1n } }),
    "fine",
  ),
  gives("returns a lone surrogate", () => "a\ud83d b", "a\ufffd b"),
  gives("returns NUL and control characters", () => "a\0\u001b[31mb", /a.*b/),
  gives("returns 50 MB", () => "x".repeat(50_000_000), /x+.*x+/, {
    outcome: "truncated in the middle; the run continues",
    slow: true,
  }),
  gives(
    "returns an object of 20 MB",
    () => ({ list: Array.from({ length: 2_000_000 }, (_, at) => at) }),
    /list/,
  ),
  gives(
    "yields without end",
    async function* () {
      for (;;) {
        yield "more ";
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    "stopped after 50 ms",
    {
      agent: () => ({ tools: [odd(endless, { timeoutMs: 50, abortGraceMs: 10 })] }),
      outcome: "stopped at its time limit; the run continues",
    },
  ),
  gives(
    "throws while it yields",
    async function* () {
      yield "some";
      throws();
    },
    "odd code threw",
  ),
  gives(
    "publishes progress that is not JSON",
    (context) => (context.update({ metadata: { cycle } } as never), "fine"),
    "fine",
  ),
  gives(
    "publishes progress after its end",
    (context) => (setTimeout(() => context.update("late"), 0), "fine"),
    "fine",
  ),
  {
    scenario: "a tool that never settles",
    outcome: "stopped at its time limit; the run continues",
    agent: (begun) => ({ tools: [odd(hangs(begun), { timeoutMs: 50, abortGraceMs: 10 })] }),
    stopReason: "completed",
    told: "stopped after 50 ms",
  },
  {
    scenario: "a tool that never settles, stopped",
    outcome: "ends with the run; on resume the outcome is unknown",
    agent: (begun) => ({ tools: [odd(hangs(begun), { timeoutMs: 0 })] }),
    stopReason: "aborted",
    stopped: true,
    told: "interrupted, outcome unknown",
  },
  {
    scenario: "a tool whose schema never settles, stopped",
    outcome: "ends with the run; the call did not run",
    agent: (begun) => ({
      tools: [odd(() => "ran", { schema: { ...odd(() => "").schema, validate: hangs(begun) } })],
    }),
    stopReason: "aborted",
    stopped: true,
    told: "interrupted before it ran",
  },
  {
    scenario: "a tool whose schema throws",
    outcome: "an error result; the run continues",
    agent: () => ({ tools: [odd(() => "ran", { schema: { ...odd(() => "").schema, validate: throws } })] }),
    stopReason: "completed",
    told: "could not be checked: odd code threw",
  },
  {
    scenario: "a tool whose `access` throws",
    outcome: "it runs alone",
    agent: () => ({ tools: [odd(() => "ran", { access: throws })] }),
    stopReason: "completed",
    told: "ran",
  },
  {
    scenario: "a shell that is missing",
    outcome: "an error result that names it; the run continues",
    agent: () => ({ tools: [createBashTools({ shell: "/no/such/bash" }).bash], cwd: "/" }),
    steps: [calls("bash", { command: "echo hi" }), says("done")],
    stopReason: "completed",
    told: "/no/such/bash",
  },
  {
    scenario: "a tool that calls `process.exit`",
    outcome: "the session can be resumed; the model is told that the outcome is unknown",
    agent: () => ({ tools: [odd(() => process.exit(7))] }),
    stopReason: "process",
    slow: true,
    told: "interrupted, outcome unknown",
  },
  {
    scenario: "a tool that kills its process",
    outcome: "the session can be resumed; the model is told that the outcome is unknown",
    agent: () => ({ tools: [odd(() => process.kill(process.pid, "SIGKILL"))] }),
    stopReason: "process",
    slow: true,
    told: "interrupted, outcome unknown",
  },
  {
    scenario: "a tool that throws outside its call",
    outcome: "an uncaught error ends the process; the session can be resumed",
    agent: () => ({ tools: [odd(() => (setTimeout(throws, 0), new Promise(() => undefined)))] }),
    stopReason: "process",
    slow: true,
    told: "interrupted, outcome unknown",
  },
];

async function* endless(): AsyncGenerator<string> {
  for (;;) {
    yield "more ";
    await new Promise((resolve) => setImmediate(resolve));
  }
}
