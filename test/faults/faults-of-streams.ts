import { NanoAgentError } from "../../src/core/base/errors.ts";
import type { WireName } from "../../src/core/message/message.ts";
import { calls, fails, finishes, says } from "../../src/testing/script.ts";
import { replies } from "../../src/testing/server-step.ts";
import { cutAfter, type Fault, spoken, streams } from "./fault.ts";

const OK = says("all well");
const CHAT = ["openai_chat"] as const;
const TOUCH = { command: "echo ran >> effects" };

/** Answers that begin well: cut, garbled, or odd in bytes. */
export const FAULTS_OF_STREAMS: readonly Fault[] = [
  {
    scenario: "a stream cut after text, once",
    outcome: "retried; the text streamed so far is discarded",
    steps: (wire) => [cutAfter(wire, says("Half an answer"), "Half an"), OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "a stream cut after text, on every attempt",
    outcome: "fails after the retries",
    steps: (wire) => [cutAfter(wire, says("Half an answer"), "Half an")],
    code: 1,
    stderr: ["broke"],
    requests: 2,
  },
  {
    scenario: "a stream cut inside the arguments of a call",
    outcome: "the call does not run; retried",
    steps: (wire) => [cutAfter(wire, calls("bash", TOUCH), "echo ran"), OK],
    code: 0,
    says: "all well",
    effects: 0,
    requests: 2,
    sampled: true,
  },
  {
    scenario: "a stream cut after a complete call, before the end of the answer",
    outcome: "the call does not run; retried",
    steps: (wire) => [cutAfter(wire, [calls("bash", TOUCH), says(" and more")], CALL_END[wire]), OK],
    code: 0,
    says: "all well",
    effects: 0,
    requests: 2,
  },
  {
    scenario: "a connection closed cleanly in the middle of the answer",
    outcome: "retried",
    steps: (wire) => {
      const body = spoken(wire, says("Half an answer"), 4);
      return [streams(body.slice(0, body.indexOf("\n\n", body.indexOf("Half")))), OK];
    },
    code: 0,
    says: "all well",
    requests: 2,
  },
  {
    scenario: "the same sentence repeated without end",
    outcome: "stopped after 8,000 characters of it; quotes the sentence",
    steps: () => [says("I will now look at the file. ".repeat(20_000))],
    code: 56,
    stderr: [`"I will now look at the file. "`],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "an answer longer than `NANO_AGENT_MAX_ANSWER_CHARS`",
    outcome: "stopped there, not retried; names the setting",
    steps: () => [says("0123456789".repeat(10_000))],
    env: () => ({ NANO_AGENT_MAX_ANSWER_CHARS: "50000" }),
    code: 1,
    stderr: ["longer than 50000 characters", "network.maxAnswerChars"],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "an answer of 20 MB",
    outcome: "stopped after 16 million characters, within a heap of 96 MB",
    steps: () => [streams(spoken("openai_chat", says("0123456789".repeat(2_000_000)), 200))],
    env: () => ({ NODE_OPTIONS: "--max-old-space-size=96" }),
    wires: CHAT,
    code: 1,
    stderr: ["longer than 16000000 characters"],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "an event more than twice as long",
    outcome: "stopped there, not retried; names the setting",
    steps: (wire) => [streams(spoken(wire, says("0123456789".repeat(20_000)), 1_000_000))],
    env: () => ({ NANO_AGENT_MAX_ANSWER_CHARS: "50000" }),
    code: 1,
    stderr: ["characters"],
    requests: 1,
  },
  {
    scenario: "an event of invalid JSON, once",
    outcome: "retried",
    steps: (wire) => [streams(`${spoken(wire, says("Half")).split("\n\n")[0]}\n\ndata: {"oops": \n\n`), OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "events of invalid JSON, on every attempt",
    outcome: "fails after the retries; shows the event",
    steps: () => [streams('data: {"oops": \n\n')],
    code: 1,
    stderr: ["not JSON", "oops"],
    requests: 2,
  },
  {
    scenario: "events that are numbers, lists or null",
    outcome: "fails after the retries",
    steps: () => [streams("data: 5\n\ndata: [1]\n\ndata: null\n\n")],
    code: 1,
    requests: 2,
  },
  {
    scenario: "an empty body with status 200",
    outcome: "fails after the retries and says so",
    steps: () => [streams("")],
    code: 1,
    stderr: ["empty body"],
    requests: 2,
  },
  {
    scenario: "plain text with status 200",
    outcome: "fails after the retries; says that it is not an event stream",
    steps: () => [replies({ body: "hello there" })],
    code: 1,
    stderr: ["not an event stream"],
    requests: 2,
  },
  {
    scenario: "events of unknown types among the others",
    outcome: "ignored",
    steps: (wire) => {
      const [first = "", ...rest] = spoken(wire, OK).split("\n\n");
      return [streams([first, UNKNOWN[wire], ...rest].join("\n\n"))];
    },
    code: 0,
    says: "all well",
    requests: 1,
    sampled: true,
  },
  {
    scenario: "a byte order mark, CRLF, comments, `id` and `retry` fields",
    outcome: "read normally",
    steps: (wire) => [
      streams(
        `\uFEFF: hello\n\n${spoken(wire, OK).replaceAll("\n\n", "\nid: 7\nretry: 3\n\n: ping\n\n")}`.replaceAll(
          "\n",
          "\r\n",
        ),
      ),
    ],
    code: 0,
    says: "all well",
    requests: 1,
    sampled: true,
  },
  {
    scenario: "lines that end with CR only",
    outcome: "read normally",
    steps: (wire) => [streams(spoken(wire, OK).replaceAll("\n", "\r"))],
    code: 0,
    says: "all well",
    requests: 1,
  },
  {
    scenario: "a stream that arrives byte by byte, with multibyte characters",
    outcome: "read normally",
    steps: (wire) => [{ ...streams(spoken(wire, says("Zażółć 漢字 🙂🏽"), 3)), splitBytes: 1 }],
    code: 0,
    says: "Zażółć 漢字 🙂🏽",
    requests: 1,
    sampled: true,
  },
  {
    scenario: "bytes that are not UTF-8",
    outcome: "replaced; the session can be resumed",
    steps: (wire) => {
      const bytes = Buffer.from(spoken(wire, says("ab#cd")), "utf8");
      const at = bytes.indexOf("#");
      bytes[at] = 0xff;
      return [streams(bytes)];
    },
    code: 0,
    says: /^ab.cd$/,
    requests: 1,
  },
  {
    scenario: "NUL and a lone surrogate in text",
    outcome: "the next request is valid Unicode",
    steps: (wire) => [streams(spoken(wire, says("a#b")).replace("a#b", "a\\u0000\\ud83db"))],
    code: 0,
    requests: 1,
    sampled: true,
  },
  {
    scenario: "50 MB of text",
    outcome: "stopped; gives the reason",
    steps: (wire) => [streams(spoken(wire, says("0123456789abcde\n".repeat(3_276_800)), 65_536))],
    wires: CHAT,
    code: 1,
    stderr: ["longer than 16000000 characters", "network.maxAnswerChars"],
    requests: 1,
  },
  {
    scenario: "one event of 50 MB",
    outcome: "stopped; gives the reason",
    steps: (wire) => [streams(spoken(wire, says("x".repeat(50_000_000)), 50_000_000))],
    wires: CHAT,
    code: 1,
    stderr: ["more than 32000000 characters"],
    requests: 1,
  },
  {
    scenario: "one line of 100 MB",
    outcome: "stopped; gives the reason",
    steps: () => [streams(`data: ${"x".repeat(100_000_000)}`)],
    wires: CHAT,
    code: 1,
    stderr: ["event of more than"],
    requests: 1,
  },
  {
    scenario: "an empty answer",
    outcome: "accepted; the next request has no empty message",
    steps: () => [says("")],
    code: 0,
    says: /^$/,
    requests: 1,
    sampled: true,
  },
  {
    scenario: "an answer of white space only",
    outcome: "the session can be resumed",
    steps: () => [says(" \n ")],
    code: 0,
    requests: 1,
  },
  {
    scenario: "text truncated by the output limit",
    outcome: "the partial text is the answer",
    steps: () => [[says("Half an ans"), finishes("length")]],
    code: 1,
    says: "Half an ans",
    stderr: ["limit"],
    requests: 1,
  },
  {
    scenario: "a refusal, or a content filter",
    outcome: "says that it was refused; the session can be resumed",
    steps: () => [[says("I cannot"), finishes("refusal")]],
    code: 1,
    stderr: [/refus|declin|filter/],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "a refusal without text",
    outcome: "says that it was refused; the session can be resumed",
    steps: () => [finishes("refusal")],
    code: 1,
    stderr: [/refus|declin|filter/],
    requests: 1,
  },
  {
    scenario: "an unknown finish reason",
    outcome: "the text is the answer",
    steps: () => [[says("all well"), finishes({ unified: "other", raw: "moonbeam" })]],
    code: 0,
    says: "all well",
    requests: 1,
  },
  {
    scenario: "no usage",
    outcome: "a normal answer",
    steps: (wire) => [
      streams(spoken(wire, OK).replaceAll(/,?"(?:usage|usageMetadata)":\{(?:[^{}]|\{[^{}]*\})*\}/g, "")),
    ],
    code: 0,
    says: "all well",
    requests: 1,
  },
  ...(
    [
      ["negative", -50],
      ["large", 2_000],
      ["fractional", 0.5],
    ] as const
  ).map(
    ([what, tokens]): Fault => ({
      scenario: `${what} usage`,
      outcome: "never counted below 0; a normal answer",
      steps: () => [[says("all well"), finishes("stop", { inputTokens: tokens, outputTokens: tokens })]],
      code: 0,
      says: "all well",
      requests: 1,
      ...(tokens === -50 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "absurd usage",
    outcome: "a normal answer; the next request may compact first",
    steps: () => [[says("all well"), finishes("stop", { inputTokens: 1e300, outputTokens: 1e300 })]],
    code: 0,
    says: "all well",
    requests: 1,
    resumedWith: 2,
  },
  {
    scenario: "usage of strings and null",
    outcome: "a normal answer",
    steps: (wire) => [
      streams(
        spoken(wire, OK).replaceAll(
          /"((?:input|output|prompt|completion|total)_tokens|\w+TokenCount)":\d+/g,
          (_all, name: string, at: number) => `"${name}":${at % 2 === 0 ? '"many"' : "null"}`,
        ),
      ),
    ],
    code: 0,
    says: "all well",
    requests: 1,
  },
  {
    scenario: "a prompt too long for the model, once",
    outcome: "compacted and retried once",
    steps: () => [
      [calls("bash", { command: "seq 1 4000" })],
      fails(new NanoAgentError("context_overflow", "prompt is too long")),
      says("what happened so far"),
      OK,
    ],
    code: 0,
    says: /all well|what happened/,
    requests: 3,
  },
  {
    scenario: "a prompt too long for the model, every time",
    outcome: "compacted at most once; shows the provider's message",
    steps: () => [
      [calls("bash", { command: "seq 1 4000" })],
      fails(new NanoAgentError("context_overflow", "prompt is too long")),
    ],
    code: 1,
    notes: 1,
    stderr: ["prompt is too long"],
    requests: 3,
  },
];

/** What stands at the end of the last event of a complete call, before anything else. */
const CALL_END: { readonly [W in WireName]: string } = {
  openai_chat: 'effects\\"}',
  anthropic: '"content_block_stop"',
  openai_responses: '"status":"completed"',
  google: "effects",
};

const UNKNOWN: { readonly [W in WireName]: string } = {
  anthropic: 'event: sparkle\ndata: {"type":"sparkle","x":1}',
  openai_chat: 'event: sparkle\ndata: {"id":"x","object":"sparkle"}\n\ndata: {}',
  openai_responses: 'event: response.sparkle\ndata: {"type":"response.sparkle","sequence_number":99}',
  google: 'data: {"sparkle":{}}',
};
