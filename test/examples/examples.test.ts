import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Lines an example must print, in this order; others may stand between them. */
const EXAMPLES: readonly (readonly [string, readonly string[]])[] = [
  ["01-minimal", ["Yes, take one: 9 °C and light rain.", "completed after 2 model requests"]],
  [
    "34-first-call",
    ["The run failed (missing_credentials): There is no API key for anthropic. Set ANTHROPIC_API_KEY."],
  ],
  ["tutorial/main", ["Noted: tea.", "4 messages in this session"]],
  ["tutorial/check", ["ℹ pass 2"]],
  ["39-sandbox", ["Done."]],
  [
    "40-ask-and-plan",
    [
      "? Where do the notes go?",
      "plan 1: Start in auto · Start in ask",
      "plan 2: Start in auto · Start in ask",
      "default: notes.md is there.",
      "approved: 1. Create notes.md.",
      "One file it is.",
    ],
  ],
  ["02-stream", ['> time {"place":"Lima"}', "< time (ok)", "200 tokens in, 40 out, cost unknown"]],
  ["03-schemas", ["total: expected number, got string", "structured_output 318 2 × lamp, 1 × desk"]],
  [
    "04-approve",
    [
      "deny by person: I still need that file",
      "deny by rule: secrets stay where they are",
      "left: notes.md, secrets.env",
    ],
  ],
  [
    "05-files-and-shell",
    ["edit: ok, 3 replacements", "batch: ok, 2 of 2 calls succeeded", "the quick brown fox!"],
  ],
  [
    "06-limits",
    [
      "max_iterations: Three searches found nothing.",
      "budget (tokens): 360 of 500 tokens are spent in this session, and what is left does not cover the next request.",
      "It took too long, so I left it.",
    ],
  ],
  ["07-own-model", ["attempt 2: The provider is overloaded.", "HELLO OUT THERE "]],
  ["08-record-and-replay", ["recorded: Eight.", "replayed: Eight."]],
  ["09-callbacks", ["[Using tool: read]", "Tokens: 200 in / 40 out", "0 messages after reset"]],
  [
    "19-permissions",
    [
      "? mkdir b … always bash(touch a && mkdir b)",
      "allow by person: mkdir b: no rule allows it.",
      "deny by rule: The rule bash(rm *) forbids rm a.",
      "deny by person: the user said: I cannot see what it does",
    ],
  ],
  [
    "12-long-term-memory",
    [
      "I will remember that, Anna.",
      "remembered something",
      "Dark, as you like it.",
      "用户叫安娜，喜欢深色模式",
      "4 records",
    ],
  ],
  ["13-short-term-memory", ["Monday.", "user hint", "user ", "assistant ", "4 messages", "1 left"]],
  ["11-sessions", ["Under the mat."]],
  [
    "14-context",
    [
      "threshold: summary, kept 2 messages",
      "All three pages are about lamps.",
      "4 messages would go, 1 would stay",
      "compacted: summary, 3 messages",
      "taken back: 5 messages",
      "without a model: 5 messages are left",
    ],
  ],
  [
    "28-replay",
    [
      "2 requests made again, the same: true",
      'step 1, price: "apple: 2 euros" became "apple: 3 euros"',
      "An apple is 2 euros.",
      "2 steps",
      'step 1: price {"fruit":"apple"}',
    ],
  ],
  ["29-undo", ["after the run: a, b, c", "after undo: notes.txt: keep me"]],
  ["10-ai-sdk", ["It is 42.", "2 requests, 200 tokens in"]],
  [
    "30-secrets",
    [
      "deploy with «redacted:DEPLOY_TOKEN»",
      "mail: []",
      "[MAIL_PASSWORD is not passed to commands. The user can allow it: --pass-env MAIL_PASSWORD, or environment.pass in their config]",
    ],
  ],
  [
    "15-approve-later",
    ["awaiting_approval", '? refund {"order":"B2"}: it moves money', "A1 is paid back; B2 was refused."],
  ],
  [
    "16-hooks",
    [
      'audit: search {"name":"ANN"}',
      "the model sees: ANN: card (card number), Lima",
      "the model sees: Error: Tool call was not approved: Bob is private",
      'shown: {"type":"text","text":"Forty-two."}',
    ],
  ],
  [
    "17-adapters",
    [
      'agent_finish {"result":"It is five past two.","stop_reason":"completed"}',
      '{"type":"TOOL_CALL_END","toolCallId":"call_1"}',
      "10 frames, the first: event: agent_start",
    ],
  ],
  [
    "18-telemetry",
    [
      "[model] request 1",
      "span: chat scripted chat",
      "span: execute_tool clock execute_tool",
      "span: invoke_agent ann invoke_agent",
    ],
  ],
  ["20-simple-agent", ["Hello Ann.", "It is 14:05, Ann.", "tools: clock", "I have nothing to say to that."]],
  [
    "21-react-agent",
    [
      "(I need the population first.)",
      "population: ok",
      "Finish: error",
      "Finish: ok",
      "Oslo has 717,710 people.",
      "717710 structured_output",
    ],
  ],
  [
    "22-plan-and-solve-agent",
    [
      "planning:",
      "step 1 of 2: Find a flight",
      "planning:",
      "step 1 of 2: Find a train",
      "step 2 of 2: Name the price",
      "final_answer:",
      "Take the night train at 20:10 for 89 euros.",
      "the conversation has 2 messages",
    ],
  ],
  [
    "23-reflection-agent",
    [
      "reflection 1",
      "refinement 1",
      "reflection 2",
      "[execution] Tea is nice.",
      "Tea is a pause you can drink.",
    ],
  ],
  [
    "24-user-agent",
    ["name (string)", "nights (integer)", "expected integer, got string", "Ann: 2 nights with breakfast"],
  ],
  [
    "37-server",
    ["? refund: Money leaves the house.", "tool_result", "run_end", "Pay order A-17 back. idle, 4 messages"],
  ],
  [
    "38-durable",
    [
      "approval_request",
      "ticket-4711 is waiting",
      '? refund {"order":"A-17"}',
      "completed: Order A-17 is paid back. (2 requests)",
    ],
  ],
  ["36-tool-groups", ["open_group: ok", "list_events: error", "left: open_group, list_mails"]],
  [
    "31-handoff",
    ["finish_tool: billing", "Yes, since Monday.", "translator (completed): Fluss", "A river is ein Fluss."],
  ],
  ["41-until", ["1 file changed · node --test passed after the last change", "completed: exit 0"]],
  ["35-coding-agent", ["read, write, edit, glob, grep, bash, job, batch, task", "completed: It is tea now."]],
  [
    "33-terminal-chat",
    [
      "> Note that tea is out.",
      "? write notes.md: once / edits / no / stop",
      "write notes.md: 1 line",
      "> Milk too?",
      "Yes, and milk.",
      "(completed)",
      "undo: 1 file put back",
    ],
  ],
  ["32-web-chat", ["RUN_STARTED", "TEXT_MESSAGE_CONTENT Bern. Anything e", "RUN_FINISHED"]],
  [
    "25-agents-together",
    [
      "Rivers remember the mountain. → Flüsse erinnern sich an den Berg.",
      "Too vague. | Lovely.",
      "river: So have I.",
      "max_turns",
    ],
  ],
  [
    "26-subagents",
    [
      "explore calls grep",
      "VAT is set in one place and used in one.",
      "600 tokens in, those of the subagents included",
    ],
  ],
  [
    "27-skills",
    [
      "fault: names no skill: add name: to its front matter",
      "subagents: explore, plan, code, general, reviewer",
      "Release v1.2: run the checks, then tag.",
    ],
  ],
];

test.each(EXAMPLES)("the example %s runs without a key and prints what it says", async (name, expected) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [`examples/${name}.ts`], {
    cwd: ROOT,
    // Node's test runner prints to a pipe in a form that differs between its versions.
    env: { ...process.env, TMPDIR: tempFolder(), NODE_OPTIONS: "--test-reporter=spec" },
  });
  expect(stderr).toBe("");
  const printed = stdout.split("\n");
  let from = 0;
  const missing = expected.filter((line) => {
    const at = printed.indexOf(line, from);
    if (at === -1) return true;
    from = at + 1;
    return false;
  });
  expect([missing, missing.length === 0 ? "" : stdout]).toEqual([[], ""]);
});

/** Plays each file it is given as if it were started with the name of a model, one after the other. */
const PLAYER = `
  const [name, ...files] = process.argv.slice(1);
  process.argv = [process.argv[0], "", name];
  for (const file of files) {
    const said = [];
    console.log = (...words) => said.push(words.join(" "));
    try {
      await import(file);
    } catch (error) {
      said.push(error.message);
    }
    process.stdout.write(JSON.stringify({ file, said: said.join("\\n") }) + "\\n");
  }
`;

test("an example that is given a model without a key says so, whatever it shows", async () => {
  const files = EXAMPLES.map(([name]) => join(ROOT, `examples/${name}.ts`)).filter((file) =>
    /^\/\/ .*\.ts \[(?:provider\/model|anthropic\/.*)\]$/m.test(readFileSync(file, "utf8")),
  );
  const player = ["--input-type=module", "-e", PLAYER, "anthropic/claude-sonnet-4-5", ...files];
  const { stdout } = await promisify(execFile)(process.execPath, player, {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: tempFolder() },
  });
  const silent = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly file: string; readonly said: string })
    .filter(({ said }) => !said.includes("Set ANTHROPIC_API_KEY"));
  expect([files.length > 20, silent]).toEqual([true, []]);
});
