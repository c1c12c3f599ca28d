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
    outcome: "waits one second, says so, retries",
    steps: () => [refuses(429, "slow down", { "retry-after": "1" }), OK],
    code: 0,
    says: "all well",
    requests: 2,
    sampled: true,
  },
  {
    scenario: "429 with a date in `retry-after`",
    outcome: "waits until then, retries",
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
      outcome: "ignores the value, waits as without it, retries",
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
      outcome: "does not wait; names the wait and the setting that would allow it",
      steps: () => [refuses(429, "slow down", { "retry-after": value })],
      wires: CHAT,
      code: 1,
      stderr: ["slow down", "network.maxRetryAfterMs"],
      requests: 1,
      ...(value === "86400" ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "429 on every attempt, without `retry-after`",
    outcome: "fails after the configured retries and says how many there were",
    steps: () => [refuses(429, "slow down")],
    code: 1,
    stderr: ["slow down", /2 (?:attempts|times)/],
    requests: 2,
  },
  {
    scenario: "quota exhausted",
    outcome: "not retried; shows the provider's message",
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
      scenario: `status \`${status}\`, once`,
      outcome: "retried",
      steps: () => [refuses(status, "try again"), OK],
      code: 0,
      says: "all well",
      requests: 2,
      ...(status === 529 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "503 while the model loads",
    outcome: "waits without counting an attempt, and says so",
    steps: () => [LOADING, LOADING, OK],
    wires: CHAT,
    code: 0,
    says: "all well",
    requests: 3,
    sampled: true,
  },
  {
    scenario: "an image refused by a server without image support",
    outcome: "retried at once without the image; the model is told",
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
    scenario: "model output that its own server cannot parse, on every attempt",
    outcome: "two attempts per answer; the model is told twice, then the run fails with the server's message",
    steps: () => [UNREADABLE],
    wires: CHAT,
    env: () => ({ NANO_AGENT_MAX_RETRIES: "5" }),
    code: 1,
    stderr: ["Failed to parse input at pos 12"],
    told: ["Your last answer could not be read"],
    requests: 6,
  },
  {
    scenario: "500 on every attempt",
    outcome: "fails after the retries; shows the provider's message",
    steps: () => [refuses(500, "the database is on fire")],
    code: 1,
    stderr: ["the database is on fire"],
    requests: 2,
  },
  {
    scenario: "502 with an HTML page, on every attempt",
    outcome: "fails after the retries; shows the text of the page without markup",
    steps: () => [showsHtml(502)],
    code: 1,
    stderr: ["502", "Sign in to go on"],
    requests: 2,
    sampled: true,
  },
  ...([400, 422] as const).map(
    (status): Fault => ({
      scenario: `status \`${status}\``,
      outcome: "not retried; shows the provider's message",
      steps: () => [refuses(status, "field frobnicate is not known")],
      code: 1,
      stderr: ["field frobnicate is not known", `${status}`],
      requests: 1,
      ...(status === 400 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "status `404`",
    outcome: "not retried; shows the provider's message",
    steps: () => [refuses(404, "the model frobnicate is not known")],
    code: 2,
    stderr: ["the model frobnicate is not known", "404"],
    requests: 1,
  },
  {
    scenario: "404 with an HTML page",
    outcome: "not retried; says to check the base URL",
    steps: () => [showsHtml(404)],
    code: 1,
    stderr: ["base URL", "404"],
    requests: 1,
  },
  {
    scenario: "status `413`",
    outcome: "not resent, since nothing can be compacted; shows the provider's message",
    notes: 1,
    steps: () => [refuses(413, "request larger than 32 MB")],
    code: 1,
    stderr: ["request larger than 32 MB"],
    requests: 1,
  },
  ...([401, 403] as const).map(
    (status): Fault => ({
      scenario: `status \`${status}\` with the key in its message`,
      outcome: "names the source of the key",
      steps: () => [refuses(status, "Incorrect API key provided: sk-test-0123456789abcdef")],
      code: 41,
      stderr: [/The key came from (?:OPENAI|ANTHROPIC|GEMINI)_API_KEY/, "[key]"],
      requests: 1,
      ...(status === 401 ? { sampled: true } : {}),
    }),
  ),
  {
    scenario: "an error status with an empty body",
    outcome: "shows the status",
    steps: () => [replies({ status: 400, body: "" })],
    wires: CHAT,
    code: 1,
    stderr: ["400"],
    requests: 1,
  },
  {
    scenario: "an error status with a body of 10 MB that is not JSON",
    outcome: "shows the beginning of the body",
    steps: () => [replies({ status: 400, body: "nonsense ".repeat(1_200_000) })],
    wires: CHAT,
    code: 1,
    stderr: ["nonsense nonsense"],
    requests: 1,
  },
  {
    scenario: "an error status whose body never ends",
    outcome: "ends at the idle limit; shows the text received",
    steps: () => [replies({ status: 400, error: "half of the wor", stall: 30 })],
    env: () => ({ NANO_AGENT_IDLE_TIMEOUT_MS: "300" }),
    wires: CHAT,
    code: 1,
    stderr: ["400"],
    requests: 1,
  },
  {
    scenario: "an HTML page with status 200",
    outcome: "not retried; quotes the page and says to check the base URL",
    steps: () => [showsHtml(200)],
    code: 1,
    stderr: ["HTML", "Sign in to go on", "base URL"],
    requests: 1,
    sampled: true,
  },
  {
    scenario: "a JSON document with status 200 instead of events",
    outcome: "says that it is not an event stream",
    steps: () => [replies({ headers: { "content-type": "application/json" }, body: '{"hello":"there"}' })],
    code: 1,
    stderr: ["JSON document"],
    requests: 1,
  },
  {
    scenario: "an error document with status 200",
    outcome: "not retried; shows the provider's message",
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
    outcome: "fails after the retries",
    steps: () => [replies({ status: 204, body: "" })],
    wires: CHAT,
    code: 1,
    stderr: ["empty body"],
    requests: 2,
  },
];
