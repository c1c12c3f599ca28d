import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { calls, says } from "../../src/testing/script.ts";
import { type RecordedRequest, refuses, replies, showsHtml } from "../../src/testing/server-step.ts";
import type { Fault } from "./fault.ts";

const OK = says("all well");
const CHAT = ["openai_chat"] as const;

const NO_EYES = refuses(500, "image input is not supported - hint: you may need to provide the mmproj");
const DOT_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

function hasImage({ body }: RecordedRequest): boolean {
  return JSON.stringify(body).includes("image_url");
}

/** What llama-server says while it reads its model from the disk. */
const LOADING = replies({
  status: 503,
  headers: { "content-type": "application/json" },
  body: '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
});

/** What llama-server says in a stream when its parser for tool calls gives up. */
const UNREADABLE = replies({
  headers: { "content-type": "text/event-stream" },
  body: 'data: {"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>","type":"server_error"}}\n\n',
});

/** Answers that are refusals: statuses, their headers, their words. */
export const FAULTS_OF_ANSWERS: readonly Fault[] = [
  {
    scenario: "429 with `retry-after: 1`",
    outcome: "waits that second, says so, asks again",
    steps: () => [refuses(429, "slow down", { "retry-after": "1" }), OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "429 with a date in `retry-after`",
    outcome: "waits until then, asks again",
    steps: () => [
      () => refuses(429, "slow down", { "retry-after": new Date(Date.now() + 1_000).toUTCString() }),
      OK,
    ],
    code: 0,
    requests: 2,
  },
  ...(
    [
      "-5",
      "soon",
      "1e99",
      "NaN",
      "",
      "0",
      "99999999999999999999",
      "Thu, 01 Jan 1970 00:00:00 GMT",
      "Fri, 31 Dec 9999 23:59:59 GMT",
    ] as const
  ).map(
    (value): Fault => ({
      scenario: `429 with \`retry-after: ${value}\``,
      outcome: "waits as if nothing was said, asks again",
      steps: () => [refuses(429, "slow down", { "retry-after": value }), OK],
      wires: CHAT,
      code: 0,
      requests: 2,
      ...(value === "-5" ? { sampled: true } : {}),
    }),
  ),
  ...(["86400", "61"] as const).map(
    (value): Fault => ({
      scenario: `429 with \`retry-after: ${value}\``,
      outcome: "is not slept: 1, with the wait and the setting that allows it",
      steps: () => [refuses(429, "slow down", { "retry-after": value })],
      wires: CHAT,
      code: 1,
      stderr: ["slow down", "network.maxRetryAfterMs"],
      requests: 1,
      ...(value === "86400" ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "429 again and again, without `retry-after`",
    outcome: "given up after the retries that are set: 1, with how often it was tried",
    steps: () => [refuses(429, "slow down")],
    code: 1,
    stderr: ["slow down", /2 (?:attempts|times)/],
    requests: 2,
  },
  {
    scenario: "quota used up",
    outcome: "not repeated: 1, with the provider's words",
    steps: () => [
      replies({
        status: 429,
        headers: { "content-type": "application/json" },
        body: '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}',
      }),
    ],
    wires: CHAT,
    code: 1,
    stderr: ["You exceeded your current quota", "billing"],
    requests: 1,
  },
  ...([500, 502, 503, 504, 529] as const).map(
    (status): Fault => ({
      scenario: `${status} once`,
      outcome: "asked again",
      steps: () => [refuses(status, "try again"), OK],
      code: 0,
      says: "all well",
      requests: 2,
      ...(status === 529 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "503 while the model is loaded",
    outcome: "waited for, without counting as an attempt; said",
    steps: () => [LOADING, LOADING, OK],
    wires: CHAT,
    code: 0,
    says: "all well",
    requests: 3,
    sampled: true,
  },
  {
    scenario: "an image refused, in the words of a server without eyes",
    outcome: "asked again at once without it; the model is told",
    steps: () => [calls("read", { path: "dot.png" }), (request) => (hasImage(request) ? NO_EYES : OK)],
    prepare: ({ cwd }) => writeFileSync(join(cwd, "dot.png"), Buffer.from(DOT_PNG, "base64")),
    wires: CHAT,
    code: 0,
    says: "all well",
    told: ["An image was left out here"],
    requests: 3,
    sampled: true,
  },
  {
    scenario: "output that its own server cannot read, again and again",
    outcome: "two attempts an answer; the model is told twice, then 1 with the server's words",
    steps: () => [UNREADABLE],
    wires: CHAT,
    env: () => ({ NANO_AGENT_MAX_RETRIES: "5" }),
    code: 1,
    stderr: ["Failed to parse input at pos 12"],
    told: ["Your last answer could not be read"],
    requests: 6,
  },
  {
    scenario: "500 again and again",
    outcome: "bounded: 1, with the provider's words",
    steps: () => [refuses(500, "the database is on fire")],
    code: 1,
    stderr: ["the database is on fire"],
    requests: 2,
  },
  {
    scenario: "502 with an HTML page, again and again",
    outcome: "bounded: 1, with the words of the page and none of its marks",
    steps: () => [showsHtml(502)],
    code: 1,
    stderr: ["502", "Sign in to go on"],
    requests: 2,
    sampled: true,
  },
  ...([400, 422] as const).map(
    (status): Fault => ({
      scenario: `${status}`,
      outcome: "not repeated: 1, with the provider's words",
      steps: () => [refuses(status, "field frobnicate is not known")],
      code: 1,
      stderr: ["field frobnicate is not known", `${status}`],
      requests: 1,
      ...(status === 400 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "404",
    outcome: "a model the provider does not have: 2, with its words",
    steps: () => [refuses(404, "the model frobnicate is not known")],
    code: 2,
    stderr: ["the model frobnicate is not known", "404"],
    requests: 1,
  },
  {
    scenario: "404 with a page",
    outcome: "an address that is not the API's: 1, says to check the base URL",
    steps: () => [showsHtml(404)],
    code: 1,
    stderr: ["base URL", "404"],
    requests: 1,
  },
  {
    scenario: "413",
    outcome: "nothing to make shorter: 1, with the provider's words, not sent again as it was",
    notes: 1,
    steps: () => [refuses(413, "request larger than 32 MB")],
    code: 1,
    stderr: ["request larger than 32 MB"],
    requests: 1,
  },
  ...([401, 403] as const).map(
    (status): Fault => ({
      scenario: `${status} that repeats the key`,
      outcome: "41, names where the key came from, shows the key nowhere",
      steps: () => [refuses(status, "Incorrect API key provided: sk-test-0123456789abcdef")],
      code: 41,
      stderr: [/The key came from (?:OPENAI|ANTHROPIC|GEMINI)_API_KEY/, "[key]"],
      requests: 1,
      ...(status === 401 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "an error status with an empty body",
    outcome: "1, with the status",
    steps: () => [replies({ status: 400, body: "" })],
    wires: CHAT,
    code: 1,
    stderr: ["400"],
    requests: 1,
  },
  {
    scenario: "an error status with a body that is not JSON, of 10 MB",
    outcome: "1, with the beginning of the words",
    steps: () => [replies({ status: 400, body: "nonsense ".repeat(1_200_000) })],
    wires: CHAT,
    code: 1,
    stderr: ["nonsense nonsense"],
    requests: 1,
  },
  {
    scenario: "an error status whose body never ends",
    outcome: "1 after the idle limit, with what was said",
    steps: () => [replies({ status: 400, error: "half of the wor", stall: 30 })],
    env: () => ({ NANO_AGENT_IDLE_TIMEOUT_MS: "300" }),
    wires: CHAT,
    code: 1,
    stderr: ["400"],
    requests: 1,
  },
  {
    scenario: "an HTML page with status 200",
    outcome: "not repeated: 1, says that it is a page, quotes it, and to check the base URL",
    steps: () => [showsHtml(200)],
    code: 1,
    stderr: ["HTML", "Sign in to go on", "base URL"],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "a JSON document with status 200 instead of events",
    outcome: "1, says that it is not a stream of events",
    steps: () => [replies({ headers: { "content-type": "application/json" }, body: '{"hello":"there"}' })],
    code: 1,
    stderr: ["JSON document"],
    requests: 1,
  },
  {
    scenario: "an error document with status 200",
    outcome: "1, with the provider's words",
    steps: () => [
      replies({
        headers: { "content-type": "application/json" },
        body: '{"error":{"message":"no such deployment","type":"invalid_request_error"}}',
      }),
    ],
    code: 1,
    stderr: ["no such deployment"],
    requests: 1,
  },
  {
    scenario: "204 without a body",
    outcome: "1, bounded",
    steps: () => [replies({ status: 204, body: "" })],
    wires: CHAT,
    code: 1,
    stderr: ["empty body"],
    requests: 2,
  },
];
