import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { says } from "../../src/testing/script.ts";
import { redirects, replies } from "../../src/testing/server-step.ts";
import { type Fault, spoken, streams } from "./fault.ts";

const OK = says("all well");
const CHAT = ["openai_chat"] as const;
const NOWHERE = "http://127.0.0.1:1/v1";

/**
 * Connections that cannot be made, break, fall silent, lead elsewhere or carry something else than they say.
 */
export const FAULTS_OF_CONNECTIONS: readonly Fault[] = [
  {
    scenario: "connection refused",
    outcome: "fails after the retries; names the address",
    steps: () => [OK],
    env: () => baseUrls(NOWHERE),
    code: 1,
    stderr: ["127.0.0.1:1"],
    requests: 0,
    sampled: true,
  },
  {
    scenario: "a host name that does not exist",
    outcome: "fails after the retries; names the host",
    steps: () => [OK],
    env: () => baseUrls("http://no-such-host.invalid/v1"),
    code: 1,
    stderr: ["no-such-host.invalid"],
    requests: 0,
  },
  {
    scenario: "connection closed before the answer, once",
    outcome: "retried",
    steps: () => [replies({ cut: "before_headers" }), OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "connection closed before the answer, on every attempt",
    outcome: "fails after the retries; names the address",
    steps: () => [replies({ cut: "before_headers" })],
    code: 1,
    stderr: ["127.0.0.1"],
    requests: 2,
  },
  {
    scenario: "no answer at all",
    outcome: "ends at `NANO_AGENT_HEADER_TIMEOUT_MS`; names the setting",
    steps: () => [replies({ stall: "before_headers" })],
    env: () => ({ NANO_AGENT_HEADER_TIMEOUT_MS: "300" }),
    code: 1,
    stderr: ["network.headerTimeoutMs", "NANO_AGENT_HEADER_TIMEOUT_MS", "300 ms"],
    requests: 2,
    sampled: true,
  },
  {
    scenario: "silence in the middle of an answer",
    outcome: "ends at `NANO_AGENT_IDLE_TIMEOUT_MS`; names the setting",
    steps: (wire) => [{ ...streams(spoken(wire, says("Half of what I wanted to say."))), stall: 400 }],
    env: () => ({ NANO_AGENT_IDLE_TIMEOUT_MS: "300" }),
    code: 1,
    stderr: ["network.idleTimeoutMs", "300 ms"],
    requests: 2,
    sampled: true,
  },
  {
    scenario: "headers, then nothing",
    outcome: "ends at `NANO_AGENT_IDLE_TIMEOUT_MS`; names the setting",
    steps: (wire) => [{ ...streams(spoken(wire, OK)), stall: 0 }],
    env: () => ({ NANO_AGENT_IDLE_TIMEOUT_MS: "300" }),
    code: 1,
    stderr: ["network.idleTimeoutMs"],
    requests: 2,
  },
  {
    scenario: "single bytes that never form an event",
    outcome: "ends at `NANO_AGENT_FIRST_EVENT_TIMEOUT_MS`; names the setting",
    steps: () => [{ ...streams(`data: ${"x".repeat(100_000)}`), splitBytes: 1, dripMs: 40 }],
    env: () => ({ NANO_AGENT_FIRST_EVENT_TIMEOUT_MS: "400" }),
    code: 1,
    stderr: ["network.firstEventTimeoutMs"],
    requests: 2,
    sampled: true,
  },
  {
    scenario: "nothing but comments",
    outcome: "ends at `NANO_AGENT_FIRST_EVENT_TIMEOUT_MS`; names the setting",
    steps: () => [{ ...streams(": keep-alive\n\n".repeat(1_000)), splitBytes: 14, dripMs: 40 }],
    env: () => ({ NANO_AGENT_FIRST_EVENT_TIMEOUT_MS: "400" }),
    code: 1,
    stderr: ["network.firstEventTimeoutMs"],
    requests: 2,
  },
  {
    scenario: "a slow stream of events without end",
    outcome: "ends at `NANO_AGENT_REQUEST_TIMEOUT_MS`; names the setting",
    steps: (wire) => {
      const body = spoken(wire, says("drip ".repeat(10_000)), 5);
      return [{ ...streams(body), splitBytes: 200, dripMs: 30 }];
    },
    env: () => ({ NANO_AGENT_REQUEST_TIMEOUT_MS: "700" }),
    code: 1,
    stderr: ["network.requestTimeoutMs"],
    requests: 2,
  },
  {
    scenario: "a redirect to another host",
    outcome: "not followed; the key is not sent there",
    steps: (_wire, { otherUrl }) => [
      redirects(`${otherUrl.replace("127.0.0.1", "localhost")}/v1/chat/completions`),
    ],
    code: 1,
    stderr: ["localhost"],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "a redirect to another port of the same host",
    outcome: "not followed; the key is not sent there",
    steps: (_wire, { otherUrl }) => [redirects(`${otherUrl}/v1/chat/completions`, 302)],
    code: 1,
    stderr: ["redirect"],
    requests: 1,
  },
  {
    scenario: "a redirect to the same host",
    outcome: "followed",
    steps: () => [(request) => redirects(request.path, 308), OK],
    code: 0,
    says: "all well",
    requests: 2,
  },
  {
    scenario: "a redirect loop",
    outcome: "fails after five redirects",
    steps: () => [(request) => redirects(request.path)],
    wires: CHAT,
    code: 1,
    stderr: ["redirected"],
    requests: 6,
  },
  {
    scenario: "a redirect without an address",
    outcome: "fails and says so",
    steps: () => [replies({ status: 307, body: "" })],
    wires: CHAT,
    code: 1,
    stderr: ["redirect"],
    requests: 1,
  },
  ...compressed("gzip", gzipSync),
  ...compressed("deflate", deflateSync),
  ...compressed("br", brotliCompressSync),
  {
    scenario: "truncated gzip",
    outcome: "a broken connection: fails after the retries",
    steps: (wire) => {
      const whole = gzipSync(spoken(wire, says("x".repeat(20))));
      return [streams(whole.subarray(0, 60), { "content-encoding": "gzip" })];
    },
    code: 1,
    stderr: [/broke|complete/],
    requests: 2,
    sampled: true,
  },
  {
    scenario: "a body declared as gzip that is not gzip",
    outcome: "fails after the retries",
    steps: (wire) => [streams(spoken(wire, OK), { "content-encoding": "gzip" })],
    wires: CHAT,
    code: 1,
    requests: 2,
  },
  {
    scenario: "an encoding that was not requested",
    outcome: "fails and names it",
    steps: (wire) => [streams(spoken(wire, OK), { "content-encoding": "compress" })],
    wires: CHAT,
    code: 1,
    stderr: ["compress"],
    requests: 1,
  },
  {
    scenario: "a `content-length` that is too long",
    outcome: "the answer counts if the provider completed it",
    steps: (wire) => {
      const body = spoken(wire, OK);
      return [{ ...streams(body, { "content-length": `${body.length + 50}` }), cut: body.length }];
    },
    code: 0,
    says: "all well",
    requests: 1,
  },
  {
    scenario: "a `content-length` that is too short",
    outcome: "an incomplete answer does not count: retried",
    steps: (wire) => [
      (request) => {
        const body = spoken(wire, says("Half of what I wanted to say."));
        return request === undefined ? OK : streams(body.slice(0, 300), { "content-length": "300" });
      },
      OK,
    ],
    code: 0,
    says: "all well",
    requests: 2,
  },
];

function compressed(name: string, compress: (text: string) => Buffer): readonly Fault[] {
  return [
    {
      scenario: `a body in \`${name}\``,
      outcome: "read normally",
      steps: (wire) => [streams(compress(spoken(wire, OK)), { "content-encoding": name })],
      code: 0,
      says: "all well",
      requests: 1,
      ...(name === "br" ? { sampled: true } : {}),
    },
  ];
}

function baseUrls(url: string): Readonly<Record<string, string>> {
  return { OPENAI_BASE_URL: url, ANTHROPIC_BASE_URL: url, GEMINI_BASE_URL: url };
}
