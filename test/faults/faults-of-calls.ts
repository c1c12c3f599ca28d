import { calls, finishes, says } from "../../src/testing/script.ts";
import { type Fault, spoken, streams } from "./fault.ts";

const OK = says("all well");
const TOUCH = { command: "echo ran >> effects" };
const JSON_WIRES = ["openai_chat", "anthropic", "openai_responses"] as const;

/** Tool calls as they should not be. */
export const FAULTS_OF_CALLS: readonly Fault[] = [
  ...(
    [
      ["that are truncated", '{"command": "echo ran >> eff'],
      ["that are a list", '["echo ran >> effects"]'],
      ["that are a number", "5"],
      ["that are not JSON", "echo ran >> effects"],
      ["with a wrong field", '{"comand": "echo ran >> effects"}'],
      ["of the wrong type", '{"command": {"echo": "ran"}}'],
    ] as const
  ).map(
    ([what, json]): Fault => ({
      scenario: `arguments ${what}`,
      outcome: "the tool does not run; the model is told",
      steps: () => [[calls("bash", json), finishes("tool_use")], OK],
      wires: JSON_WIRES,
      code: 0,
      says: "all well",
      effects: 0,
      told: [/argument|JSON|command/],
      requests: 2,
      ...(what === "that are truncated" ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "required arguments missing",
    outcome: "the tool does not run; the model is told",
    steps: () => [calls("bash", {}), OK],
    code: 0,
    told: ["command"],
    requests: 2,
  },
  {
    scenario: "two calls with the same id",
    outcome: "both run once; each has its own result",
    steps: () => [[calls("bash", TOUCH, "call_same"), calls("bash", TOUCH, "call_same")], OK],
    code: 0,
    effects: 2,
    requests: 2,
    sampled: true,
  },
  {
    scenario: "an id used by an earlier answer",
    outcome: "both run once; each has its own result",
    steps: () => [calls("bash", TOUCH, "call_same"), calls("bash", TOUCH, "call_same"), OK],
    code: 0,
    effects: 2,
    requests: 3,
  },
  {
    scenario: "an empty id",
    outcome: "runs with a generated id",
    steps: () => [calls("bash", TOUCH, ""), OK],
    code: 0,
    effects: 1,
    requests: 2,
    sampled: true,
  },
  {
    scenario: "no id",
    outcome: "runs with a generated id",
    steps: (wire) => [
      streams(
        spoken(wire, calls("bash", TOUCH, "call_gone")).replaceAll(/"(?:id|call_id)":"call_gone",?/g, ""),
      ),
      OK,
    ],
    code: 0,
    effects: 1,
    requests: 2,
  },
  {
    scenario: "an id that is null, or a number",
    outcome: "runs with a generated id",
    steps: (wire) => [
      streams(
        spoken(wire, calls("bash", TOUCH, "call_gone")).replaceAll(
          /"(id|call_id)":"call_gone"/g,
          '"$1":null',
        ),
      ),
      streams(
        spoken(wire, calls("bash", TOUCH, "call_gone")).replaceAll(/"(id|call_id)":"call_gone"/g, '"$1":17'),
      ),
      OK,
    ],
    code: 0,
    effects: 2,
    requests: 3,
  },
  {
    scenario: "an id of 5,000 characters with spaces, quotes and line breaks",
    outcome: "runs; the next request is accepted",
    steps: () => [calls("bash", TOUCH, `call "x"\n\t ${"y".repeat(5_000)}`), OK],
    code: 0,
    effects: 1,
    requests: 2,
  },
  ...(
    [
      ["that is unknown", "no_such_tool"],
      ["with spaces", "my tool (beta)"],
      ["of 1,000 characters", "n".repeat(1_000)],
      ["in capitals", "BASH_TOOL"],
      ["in Chinese", "工具"],
      ["`__proto__`", "__proto__"],
      ["`constructor`", "constructor"],
    ] as const
  ).map(
    ([what, name]): Fault => ({
      scenario: `a tool name ${what}`,
      outcome: "the model is told which tools exist",
      steps: () => [calls(name, TOUCH), OK],
      code: 0,
      effects: 0,
      told: [/no tool|unknown tool|not a tool|There is no/i],
      requests: 2,
      ...(what === "with spaces" ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "an empty tool name",
    outcome: "nothing runs; the session can be resumed",
    steps: () => [[says("Look: "), calls("", TOUCH)], OK],
    code: 0,
    effects: 0,
    requests: "any",
  },
  {
    scenario: "the stop reason of a call without a call",
    outcome: "the text is the answer",
    steps: () => [[says("all well"), finishes({ unified: "tool_use", raw: "tool_use" })]],
    code: 0,
    says: "all well",
    requests: 1,
    sampled: true,
  },
  {
    scenario: "a call with the stop reason of an answer",
    outcome: "the call runs",
    steps: () => [[calls("bash", TOUCH), finishes("stop")], OK],
    code: 0,
    effects: 1,
    requests: 2,
  },
  {
    scenario: "a call truncated by the output limit",
    outcome: "the call does not run; the model is told why",
    steps: () => [[calls("bash", '{"command": "echo ran >> effe'), finishes("length")], OK],
    wires: JSON_WIRES,
    code: 0,
    says: "all well",
    effects: 0,
    told: [/cut|limit|truncated/],
    requests: 2,
    sampled: true,
  },
  {
    scenario: "NUL and a lone surrogate in arguments",
    outcome: "the next request is valid Unicode",
    steps: (wire) => [
      streams(
        spoken(wire, calls("write", { path: "new.txt", content: "a#b" }), 4_096).replaceAll(
          "a#b",
          wire === "google" ? "a\\u0000\\ud83db" : "a\\\\u0000\\\\ud83db",
        ),
      ),
      OK,
    ],
    code: 0,
    requests: 2,
    sampled: true,
  },
  {
    scenario: "NUL in a command and in a path",
    outcome: "the model is told",
    steps: () => [[calls("bash", { command: "echo a\u0000b" }), calls("read", { path: "a\u0000b" })], OK],
    code: 0,
    requests: 2,
  },
  {
    scenario: "10,000 calls in one answer",
    outcome: "128 run; each of the others gets an error result",
    steps: () => [
      Array.from({ length: 10_000 }, (_, at) => calls("read", { path: `no-such-file-${at}` }, `call_${at}`)),
      OK,
    ],
    wires: ["openai_chat", "anthropic"],
    code: 0,
    says: "all well",
    told: ["one answer may hold 128 calls", "no-such-file-127"],
    requests: "any",
  },
  {
    scenario: "arguments of 5 MB",
    outcome: "the call runs",
    steps: () => [calls("write", { path: "effects", content: `${"x".repeat(5_000_000)}\n` }), OK],
    wires: ["openai_chat"],
    code: 0,
    effects: 1,
    requests: 2,
  },
  {
    scenario: "arguments 100,000 levels deep",
    outcome: "the tool does not run; the model is told",
    steps: () => [calls("bash", `{"command":${"[".repeat(100_000)}${"]".repeat(100_000)}}`), OK],
    wires: JSON_WIRES,
    code: 0,
    requests: 2,
  },
  {
    scenario: "an argument named `__proto__`",
    outcome: "treated like any unknown argument",
    steps: () => [calls("bash", '{"command":"echo ran >> effects","__proto__":{"timeout":1}}'), OK],
    wires: JSON_WIRES,
    code: 0,
    requests: 2,
  },
];
