/**
 * Makes the pictures of the page: `node scripts/record-pages.ts [FOLDER]`. Real sessions of a scripted model
 * are given the times of a working day, served by the built page, and looked at in Chromium. Writes
 * page-*.png into docs/assets, or into FOLDER.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CodingSession } from "../src/coding/session/coding-session.ts";
import { createCodingSession } from "../src/coding/session/prepare-coding-session.ts";
import { loadSettings } from "../src/coding/settings/settings.ts";
import type { JournalEntry } from "../src/core/agent/entries.ts";
import { serveSessions } from "../src/faces/http/serve-sessions.ts";
import type { PermissionMode } from "../src/permission/permission-mode.ts";
import { encodeRecord } from "../src/session/record.ts";
import { calls, finishes, says, thinks } from "../src/testing/script.ts";
import { ScriptedModel } from "../src/testing/scripted-model.ts";
import type { Question } from "../src/view/question.ts";
import { type BrowserPage, findChromium, startBrowser } from "../test/server/browser.ts";
import { NO_LOCAL_SERVERS } from "./hermetic-environment.ts";

type Steps = ConstructorParameters<typeof ScriptedModel>[0];

const root = join(import.meta.dirname, "..");
const room = mkdtempSync(join(tmpdir(), "nano-agent-pages-"));
const home = join(room, "home");
const environment = { PATH: process.env["PATH"] ?? "", HOME: home, ...NO_LOCAL_SERVERS };
const WINDOW = { contextWindow: 400_000 };
const TOKEN = "a-token-of-more-than-20-characters";

const UPLOAD = `import { putFile } from "./put.ts";

const LIMIT = 5;

// Sends each file; a file that fails for good stops the rest.
export async function upload(files: File[]) {
  for (const file of files) {
    await putFile(file);
  }
}
`;
const RETRY = `/** Tries again after errors that may pass, twice as late each time. */
export async function retry<T>(work: () => Promise<T>, { times, onlyIf }: Options): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= times || !onlyIf(error)) throw error;
      await sleep(250 * 2 ** attempt);
    }
  }
}
`;
const PROJECT = {
  "src/upload.ts": UPLOAD,
  "src/put.ts":
    'export async function putFile(file: File) {\n  await fetch("/files", { method: "PUT", body: file });\n}\n',
  "test/upload.test.ts":
    'test("sends each file once", async () => {\n  await upload([file("a"), file("b")]);\n});\n',
  "package.json": '{ "name": "papertrail", "private": true, "scripts": { "test": "node test/run.mjs" } }\n',
  "test/run.mjs": `import { readFileSync } from "node:fs";
if (readFileSync("test/upload.test.ts", "utf8").includes("clock.tick")) console.log("Tests  14 passed (14)");
else {
  console.log("FAIL  test/upload.test.ts › sends each file once\\nAssertionError: expected 1 to be 3");
  process.exit(1);
}
`,
  "CHANGELOG.md": "# Changes\n\n## 2.3\n\n- Faster previews\n",
};

/** A request's use: what it reads, most of it from the cache, and what it writes. */
function uses(inputTokens: number, reason: "tool_use" | "stop" = "tool_use"): ReturnType<typeof finishes> {
  return finishes(reason, {
    inputTokens,
    outputTokens: Math.round(inputTokens / 30),
    cacheReadTokens: Math.round(inputTokens * 0.7),
  });
}

const TASKS = [
  "Read how uploads are sent",
  "Add a retry helper",
  "Use it in upload.ts",
  "Make the new test pass",
  "Note it in the changelog",
];
const todo = (done: number): ReturnType<typeof calls> =>
  calls("todo", {
    todos: TASKS.map((content, at) => ({
      content,
      status: at < done ? "completed" : at === done ? "in_progress" : "pending",
    })),
  });

const WORK: Steps = [
  [
    thinks("The network may drop for a second. Where are files sent, and what do the tests cover?"),
    says("I’ll look at how uploads are sent and what the tests cover."),
    calls("read", { path: "src/upload.ts" }),
    calls("read", { path: "src/put.ts" }),
    calls("read", { path: "test/upload.test.ts" }),
    calls("read", { path: "CHANGELOG.md" }),
    calls("grep", { pattern: "fetch", path: "src" }),
    uses(8_400),
  ],
  [
    says(
      "`putFile` calls `fetch` once and throws on any error. I’ll add a small `retry` with exponential backoff and use it for network errors and 5xx only.",
    ),
    calls("write", { path: "src/retry.ts", content: RETRY }),
    calls("edit", {
      path: "src/upload.ts",
      edits: [
        {
          old_string: "import { putFile }",
          new_string: 'import { isTransient, retry } from "./retry.ts";\nimport { putFile }',
        },
        {
          old_string: "    await putFile(file);",
          new_string: "    await retry(() => putFile(file), { times: 4, onlyIf: isTransient });",
        },
      ],
    }),
    uses(13_900),
  ],
  [todo(3), calls("bash", { command: "npm test" }), uses(17_600)],
  [
    thinks("The fake timers never advance."),
    says(
      "The fake timers never advance between attempts, so the second try is not reached. I’ll advance them in the test.",
    ),
    calls("edit", {
      path: "test/upload.test.ts",
      edits: [
        {
          old_string: "});\n",
          new_string:
            '});\n\ntest("retries twice, then gives up", async () => {\n  offline();\n  const sent = upload([file("a")]);\n  await clock.tick(2_000);\n  await expect(sent).rejects.toThrow("offline");\n});\n',
        },
      ],
    }),
    calls("bash", { command: "npm test" }),
    uses(24_600),
  ],
  [
    calls("edit", {
      path: "src/upload.ts",
      edits: [{ old_string: "const LIMIT = 5;", new_string: "const LIMIT = 8; // files at a time" }],
    }),
    calls("edit", {
      path: "CHANGELOG.md",
      edits: [
        {
          old_string: "- Faster previews",
          new_string: "- Faster previews\n- Uploads survive a short outage",
        },
      ],
    }),
    todo(5),
    calls("bash", { command: "npm test" }),
    uses(31_000),
  ],
  [
    says(
      "Uploads now survive a short outage: four tries, 250 ms to 2 s apart. A new test covers a drop, a 503 and a 404.",
    ),
    uses(38_200, "stop"),
  ],
];

const uploadEdit = calls("edit", {
  path: "src/upload.ts",
  edits: [
    {
      old_string: "    await putFile(file);",
      new_string: "    await retry(() => putFile(file), { times: 4, onlyIf: isTransient });",
    },
  ],
});

/** Sessions that wait for an answer: to a change, to the model, and to a plan. */
const WAITING: readonly PicturedSession[] = [
  {
    title: "Send uploads again after errors",
    folder: "uploads",
    model: "openai/gpt-5",
    mode: "default",
    steps: [
      [calls("read", { path: "src/upload.ts" }), uses(8_900)],
      [says("The loop gives up at the first error. I’ll wrap the request."), uploadEdit, uses(9_200)],
    ],
    when: [0, 15],
    usd: 0.02,
  },
  {
    title: "Split the invoice module",
    folder: "ledger",
    model: "anthropic/claude-sonnet-4-5",
    mode: "default",
    steps: [
      [
        says("Both the page and the worker import it."),
        calls("ask_user", {
          questions: [
            {
              question: "Where should the totals go?",
              options: [
                { label: "A module of their own", description: "The worker loads nothing of the page." },
                { label: "Into the worker", description: "The page asks the worker for them." },
                { label: "Leave them", description: "Split only what the page draws." },
              ],
            },
            {
              question: "Keep the old import path?",
              options: [{ label: "Yes, for one release" }, { label: "No" }],
            },
          ],
        }),
        uses(11_800),
      ],
    ],
    when: [0, 15],
    usd: 0.03,
  },
  {
    title: "Move the config loader to zod",
    folder: "dotfiles",
    model: "openai/gpt-5",
    mode: "plan",
    steps: [
      [calls("read", { path: "src/upload.ts" }), uses(8_100)],
      [
        says("The checks are spread over three files."),
        calls("present_plan", {
          plan: "1. Add `zod` and write the schema of the settings in `src/config.ts`\n2. Replace the checks by hand, one file after the other\n3. Keep the messages: tests compare them\n4. Run `npm test` after each file\n\nNothing outside `src` and `test` changes.",
        }),
        uses(10_400),
      ],
    ],
    when: [0, 15],
    usd: 0.02,
  },
];

/** How long things take in the pictures: answers, calls, and a person who is asked. */
const TOOL_MS: { readonly [tool: string]: number } = {
  bash: 14_000,
  edit: 900,
  write: 1_200,
  read: 600,
  grep: 1_100,
};

/** Gives the entries of a session the times of a day, and its requests a price. */
function retimed(entries: readonly JournalEntry[], begin: number, usd: number): readonly JournalEntry[] {
  let time = begin;
  let answers = 0;
  return entries.map((entry): JournalEntry => {
    switch (entry.type) {
      case "assistant_message": {
        const durationMs = 6_000 + 2_300 * (answers++ % 4);
        time += durationMs;
        return { ...entry, time, durationMs, firstTokenMs: durationMs * 0.35, costUsd: usd };
      }
      case "permission_decision":
        time += entry.by === "person" ? 31_000 : 20;
        return { ...entry, time };
      case "tool_result": {
        const durationMs = TOOL_MS[entry.name] ?? 300;
        time += durationMs;
        return { ...entry, time, durationMs };
      }
      default:
        time += 20;
        return { ...entry, time };
    }
  });
}

interface PicturedSession {
  readonly title: string;
  readonly folder: string;
  readonly model: string;
  readonly steps: Steps;
  /** Days ago, and the hour. */
  readonly when: readonly [days: number, hour: number];
  readonly usd: number;
  /** The mode of a session that is left at its question. Absent: all is allowed, to its end. */
  readonly mode?: PermissionMode;
}

/** Says yes, and to all of its kind where a rule can say so. */
function allow(session: CodingSession, { id, choices }: Question): void {
  session.answer(id, choices.find(({ choice }) => choice === "always") ?? { choice: "once" });
}

/** Runs a session, and moves it to another time. */
async function make({ title, folder, model, steps, when, usd, mode }: PicturedSession): Promise<string> {
  const cwd = join(room, folder);
  for (const [path, text] of Object.entries(PROJECT)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const [provider = "", id = ""] = model.split("/");
  const scripted = new ScriptedModel(steps, { provider, id, info: WINDOW });
  const session = await createCodingSession({
    cwd,
    environment,
    model: scripted,
    permissionMode: mode ?? "acceptEdits",
  });
  const isAsked = new Promise<void>((resolve) => {
    session.onQuestion((question) => (mode === undefined ? allow(session, question) : resolve()));
  });
  const isDone = session.send(title);
  if (mode !== undefined) {
    await isAsked;
    session.killNow();
  }
  await isDone;
  const { id: sessionId } = session;
  const { path: sessionFile } = session.info;
  await session[Symbol.asyncDispose]();
  const lines = readFileSync(sessionFile ?? "", "utf8")
    .trim()
    .split("\n");
  const entries = lines.map((line) => {
    const { v: _v, sum: _sum, ...entry } = JSON.parse(line);
    return entry as JournalEntry;
  });
  const begin = new Date();
  begin.setDate(begin.getDate() - when[0]);
  begin.setHours(when[1], (7 * entries.length) % 60, 0, 0);
  const bytes = retimed(entries, Math.min(begin.getTime(), Date.now() - 600_000), usd).map(
    (entry) => encodeRecord(entry).bytes,
  );
  writeFileSync(sessionFile ?? "", Buffer.concat(bytes));
  utimesSync(sessionFile ?? "", begin, begin);
  return sessionId;
}

const small = (text: string, ...more: readonly ReturnType<typeof calls>[]): Steps => [
  [says("Let me look."), calls("read", { path: "CHANGELOG.md" }), uses(9_000)],
  ...(more.length === 0 ? [] : [[...more, uses(10_000)]]),
  [says(text), uses(12_000, "stop")],
];
const change = (what: string): ReturnType<typeof calls> =>
  calls("edit", {
    path: "CHANGELOG.md",
    edits: [{ old_string: "## 2.3\n", new_string: `## 2.3\n\n- ${what}\n` }],
  });

const OTHERS: readonly (readonly [
  title: string,
  folder: string,
  model: string,
  days: number,
  steps: Steps,
])[] = [
  ["Why does the CI cache miss on main?", "papertrail", "openai/gpt-5", 0, small("The key holds the date.")],
  ["Release notes for 2.3", "papertrail", "anthropic/claude-sonnet-4-5", 0, small("Done.", change("Notes"))],
  [
    "Round amounts in the invoice totals",
    "ledger",
    "openai/gpt-5",
    0,
    small("Rounded at the end.", change("Rounding")),
  ],
  ["Remove the unused feature flags", "papertrail", "openai/gpt-5", 1, small("Removed.", change("Flags"))],
  [
    "Dark mode for the invoice page",
    "ledger-web",
    "anthropic/claude-sonnet-4-5",
    1,
    small("Done.", change("Dark")),
  ],
  [
    "Sort imports in the worker package",
    "papertrail",
    "deepseek/deepseek-chat",
    1,
    small("Sorted.", change("Imports")),
  ],
  ["Type the queue without any", "papertrail", "openai/gpt-5", 3, small("Typed.", change("Types"))],
  [
    "Read limits from the environment",
    "ledger",
    "openai/gpt-5",
    5,
    small("They are read.", change("Limits")),
  ],
  ["Explain the lock file", "dotfiles", "deepseek/deepseek-chat", 8, small("It pins versions.")],
  [
    "Faster previews",
    "papertrail",
    "anthropic/claude-sonnet-4-5",
    12,
    small("Twice as fast.", change("Previews")),
  ],
  ["Migrate the tests", "ledger-web", "openai/gpt-5", 15, small("Migrated.", change("Tests"))],
  ["Bump Node to 24 in CI", "papertrail", "openai/gpt-5", 22, small("Bumped.", change("Node 24"))],
];

const SIZES = [
  { name: "1280-light", width: 1280, height: 900, scheme: "light" },
  { name: "1280-dark", width: 1280, height: 900, scheme: "dark" },
  { name: "390", width: 390, height: 844, scheme: "light" },
] as const;

interface View {
  readonly name: string;
  readonly hash: string;
  /** True as soon as all of it is shown. */
  readonly ready: string;
}

async function shoot(page: BrowserPage, views: readonly View[], folder: string): Promise<void> {
  for (const { name, hash, ready } of views) {
    // What is shown first is laid out for the width it is first seen at.
    await page.picture(SIZES[0]);
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.until(ready);
    for (const size of SIZES) {
      const file = join(folder, `page-${name}-${size.name}.png`);
      writeFileSync(file, await page.picture(size));
      process.stdout.write(`${file}\n`);
    }
  }
}

async function record(folder: string): Promise<void> {
  const chromium = findChromium();
  if (chromium === undefined) throw new Error("The pictures are taken in Chromium: install it first.");
  mkdirSync(folder, { recursive: true });
  await shootAll(chromium, folder, await makeSessions());
}

interface PicturedIds {
  /** The session that is opened. */
  readonly done: string;
  readonly waiting: readonly string[];
}

/** Makes the sessions that are shown. */
async function makeSessions(): Promise<PicturedIds> {
  mkdirSync(join(home, ".config/nano-agent"), { recursive: true });
  writeFileSync(join(home, ".config/nano-agent/config.json"), '{ "extraTools": ["todo"] }\n');
  for (const [title, name, model, days, steps] of OTHERS)
    await make({
      title,
      folder: name,
      model,
      steps,
      when: [days, 9 + (title.length % 8)],
      usd: 0.02 + (title.length % 7) / 30,
    });
  const done = await make({
    title: "Retry uploads when the network drops",
    folder: "papertrail",
    model: "openai/gpt-5",
    steps: WORK,
    when: [0, 14],
    usd: 0.024,
  });
  const waiting: string[] = [];
  for (const session of WAITING) waiting.push(await make(session));
  return { done, waiting };
}

async function shootAll(chromium: string, folder: string, { done, waiting }: PicturedIds): Promise<void> {
  const cwd = join(room, "ledger");
  const serving = await serveSessions({
    settings: await loadSettings({ environment, cwd }),
    session: { environment, model: new ScriptedModel([]) },
    port: 0,
    host: "127.0.0.1",
    token: TOKEN,
    readOnly: false,
    page: join(root, "dist/web"),
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  const browser = await startBrowser(chromium);
  try {
    await browser.goTo(`${serving.url}#token=${TOKEN}`);
    await browser.until("document.querySelector('.sess')");
    const at = (view: string): string => `#/sessions/${done}${view}`;
    const picture = (view: string): string =>
      `document.querySelector('.tabs a[href$="/${view}"][aria-current]') && document.querySelector('.picture')`;
    await shoot(
      browser,
      [
        { name: "home", hash: "#/", ready: "document.querySelector('.sess')" },
        { name: "session", hash: at(""), ready: "document.querySelector('.done')" },
        ...["question", "ask", "plan"].map((name, each) => ({
          name,
          hash: `#/sessions/${waiting[each]}`,
          ready: "document.querySelector('.ask') && document.querySelector('.say')",
        })),
        { name: "timeline", hash: at("/timeline"), ready: picture("timeline") },
        { name: "context", hash: at("/context"), ready: picture("context") },
        {
          name: "files",
          hash: at("/files"),
          ready: `${picture("files")} && document.querySelector('.ftree .btn')`,
        },
        { name: "replay", hash: at("/replay"), ready: picture("replay") },
        { name: "statistics", hash: "#/stats", ready: "document.querySelector('.figs')" },
      ],
      folder,
    );
    if (browser.faults.length > 0) throw new Error(browser.faults.join("\n"));
  } finally {
    await browser.close();
    await serving.close();
  }
}

Object.assign(globalThis, {
  NANO_AGENT_VERSION: JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version,
});
try {
  await record(process.argv[2] ?? join(root, "docs/assets"));
} finally {
  rmSync(room, { recursive: true, force: true, maxRetries: 5 });
}
