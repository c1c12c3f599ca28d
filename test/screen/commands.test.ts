import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { calls, says, waits } from "../../src/testing/script.ts";
import { replies } from "../../src/testing/server-step.ts";
import { modelServer } from "../e2e/command.ts";
import { tempFolder } from "../temp-folder.ts";
import { COMMAND, leave, NEVER, openScreen, openShell, openTerminal, READY, rowsOf } from "./screen-kit.ts";
import { modelEnv, takesKeys } from "./screen-program.ts";
import { KEYS } from "./terminal-program.ts";

test("? lists the keys, / offers commands, and an unknown one stays to be mended", async () => {
  const { program } = await openScreen([]);
  program.type("?");
  await program.shows(
    (screen) =>
      /^── Keys ─+ \/help commands ──$/m.test(screen) &&
      /^ {2}enter {8}send, or steer the run {6}alt\+enter {2}queue for after it$/m.test(screen) &&
      screen.includes("@file        mention a file"),
  );
  await program.typeUntil("q", READY);
  await program.typeUntil("/mod", "/model");
  program.type(KEYS.escape);
  await program.hides("choose the model");
  await program.typeUntil("x\r", "There is no /modx");
  await program.shows("❯ /modx");
  program.type(KEYS.ctrl("c"));
  expect(await leave(program)).toBe(0);
});

test("a mode is chosen by Shift+Tab and by /mode, and the status says it", async () => {
  const { program } = await openScreen([]);
  // The mode that asks nothing has no key.
  await program.typeUntil(KEYS.shiftTab, "plan: Reads only");
  await program.typeUntil(KEYS.shiftTab, "auto: Works freely");
  await program.typeUntil(KEYS.shiftTab, "ask: Asks before");
  await program.typeUntil("/mode nosuch\r", "Use one of auto, ask (default), plan,");
  await program.typeUntil("/mode bypass\r", "Turn on bypass?");
  await program.typeUntil(KEYS.escape, "  ask · ");
  await program.typeUntil("/mode bypass\r", "Turn on bypass?");
  await takesKeys(program);
  await program.typeUntil("1", "bypass: Asks nothing");
  expect(await leave(program)).toBe(0);
});

test("/model lists what can be used with windows and prices, the rest with the variable, and keeps what is chosen", async () => {
  const { program } = await openScreen([]);
  await program.typeUntil("/model\r", (screen) =>
    /^── Model ─+ \$ per 1M tokens, in \/ out ──$/m.test(screen),
  );
  await program.typeUntil("gpt-5-mini", (screen) =>
    /▸ gpt-5-mini +openai +400k +0\.25 \/ +2\.00/.test(screen),
  );
  await program.typeUntil(KEYS.right, "[low]");
  await program.typeUntil("\r", "The model is openai/gpt-5-mini:low");
  await program.typeUntil("/model\r", "── Model");
  await program.typeUntil("gemini", (screen) => /▸ gemini-.* google .* needs GEMINI_API_KEY/.test(screen));
  await program.typeUntil("\r", "── Paste a key of google");
  await program.typeUntil(KEYS.escape, READY);
  expect(await leave(program)).toBe(0);
  const settings = readFileSync(join(program.home, ".config/nano-agent/config.json"), "utf8");
  expect(JSON.parse(settings)).toEqual({ model: "openai/gpt-5-mini:low" });
});

test("a model that is chosen in the demo is not that of the next start", async () => {
  const { program } = await openScreen([says("I see.")], {
    args: ["demo", "-m", "openai/gpt-5"],
    ready: "I see.",
  });
  await program.typeUntil("/model openai/gpt-5-mini\r", "The model is openai/gpt-5-mini from now on.");
  await leave(program);
  expect(existsSync(join(program.home, ".config/nano-agent/config.json"))).toBe(false);
});

/** Nobody listens at the addresses of local servers, and a new folder is not asked about. */
const NOBODY = {
  OLLAMA_BASE_URL: "http://127.0.0.1:9/v1",
  LMSTUDIO_BASE_URL: "http://127.0.0.1:9/v1",
  LLAMACPP_BASE_URL: "http://127.0.0.1:9/v1",
  VLLM_BASE_URL: "http://127.0.0.1:9/v1",
  NANO_AGENT_PERMISSION_MODE: "default",
};

test("without a model a key is pasted, tried at once, kept for the user alone, and there at the next start", async () => {
  const server = await modelServer([
    replies({ status: 401, error: "Incorrect API key provided." }),
    says("ok"),
    says("Hello."),
    says("Hello again."),
  ]);
  const env = { ...NOBODY, OPENAI_BASE_URL: `${server.url}/v1` };
  const program = openTerminal({ env });
  await program.shows("No model yet");
  await program.typeUntil("\r", "── Paste a key");
  const secret = "sk-proj-0123456789abcdef";
  await program.typeUntil("sk-proj-wrong\r", "refused the credentials");
  await program.typeUntil(`\u001B[200~${secret}\u001B[201~`, "••••••");
  await program.typeUntil("\r", READY);
  await program.typeUntil("hi\r", "Hello.");
  expect(await leave(program)).toBe(0);
  const path = join(program.home, ".config/nano-agent/keys.json");
  expect([
    JSON.parse(readFileSync(path, "utf8")),
    statSync(path).mode & 0o777,
    program.emulator.written.includes(secret),
    server.requests.map(({ headers }) => headers["authorization"]),
  ]).toEqual([
    { OPENAI_API_KEY: secret },
    0o600,
    false,
    ["Bearer sk-proj-wrong", `Bearer ${secret}`, `Bearer ${secret}`],
  ]);
  const again = openTerminal({ home: program.home, cwd: program.cwd, env });
  await again.shows(READY);
  await again.typeUntil("hi\r", "Hello again.");
  expect(await leave(again)).toBe(0);
});

test("without a model a base URL is given: its models are listed, with the key it wants, and the one that is chosen works", async () => {
  const models = await modelServer([says("ok"), says("Hello.")]);
  const url = await serving(async (request, response) => {
    if (request.headers.authorization !== "Bearer local-secret" || request.url === "/props") {
      response.writeHead(request.url === "/props" ? 404 : 401).end("{}");
      return;
    }
    if (request.url === "/v1/models") {
      response.end(JSON.stringify({ data: [{ id: "small" }, { id: "large" }] }));
      return;
    }
    const body = await text(request);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${models.url}${request.url ?? ""}`, { method: "POST", headers, body });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  });
  const program = openTerminal({ env: NOBODY });
  await program.shows("No model yet");
  await program.typeUntil("3", (screen) => /llamacpp +http:\/\/127\.0\.0\.1:9\/v1 +no answer/.test(screen));
  await program.typeUntil("2", "── Base URL of the server");
  await program.typeUntil("http://127.0.0.1:9\r", "Nothing answers at http://127.0.0.1:9.");
  await program.typeUntil(`${url}\r`, "wants a key (401)");
  await program.typeUntil(
    "local-secret\r",
    (screen) => screen.includes("▸ small") && screen.includes("large"),
  );
  await program.typeUntil(`${KEYS.down}\r`, READY);
  await program.typeUntil("hi\r", "Hello.");
  expect(await leave(program)).toBe(0);
  const folder = join(program.home, ".config/nano-agent");
  expect([
    JSON.parse(readFileSync(join(folder, "keys.json"), "utf8")),
    JSON.parse(readFileSync(join(folder, "config.json"), "utf8")),
  ]).toEqual([{ CUSTOM_BASE_URL: `${url}/v1`, CUSTOM_API_KEY: "local-secret" }, { model: "custom/large" }]);
});

/** Serves on loopback until the test ends; resolves to the address. */
async function serving(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("/model local takes the model of the server that answers, and says which it is", async () => {
  const url = await serving((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data: [{ id: "tiny", object: "model" }] }));
  });
  const { program } = await openScreen([], { env: { ...NOBODY, LLAMACPP_BASE_URL: `${url}/v1` } });
  await program.typeUntil(
    "/model local\r",
    "The model is llamacpp/tiny from now on, also at the next start.",
  );
  expect(await leave(program)).toBe(0);
});

test("a shell line runs and the model sees it with the next message; two marks keep it to oneself; # is remembered", async () => {
  const { program, server } = await openScreen([says("I see it.")]);
  await program.typeUntil("!echo from-the-shell\r", (screen) => /^\s+from-the-shell$/m.test(screen));
  await program.typeUntil("!!echo kept-private\r", (screen) => /^\s+kept-private$/m.test(screen));
  await program.typeUntil("#always answer in verse\r", "remembered in AGENTS.md");
  await program.typeUntil("go\r", "I see it.");
  const sent = JSON.stringify(server.requests[0]?.body);
  expect([
    sent.includes("from-the-shell"),
    sent.includes("kept-private"),
    readFileSync(join(program.cwd, "AGENTS.md"), "utf8"),
  ]).toEqual([true, false, "- always answer in verse\n"]);
});

test("a shell line that takes its time is shown with it, is stopped by Escape, and what is typed meanwhile stays", async () => {
  const { program } = await openScreen([says("Hi.")]);
  await program.typeUntil("!echo begun; touch told; sleep 1000\r", (screen) =>
    /! echo begun; touch told; sleep 1000 +\d+ s {2}esc stops/.test(screen),
  );
  // The row is there before the shell is.
  await expect.poll(() => existsSync(join(program.cwd, "told"))).toBe(true);
  await program.typeUntil("typed", "❯ typed");
  program.type(KEYS.escape);
  await program.hides("esc stops");
  await program.shows((screen) => screen.includes("begun\n  ✗ stopped\n") && screen.includes("❯ typed"));
  program.type(KEYS.ctrl("c"));
  await program.hides("❯ typed");
  expect(await leave(program)).toBe(0);
});

test("Escape twice goes back to before a message: conversation and files, and its text is in the input again", async () => {
  const { program } = await openScreen(
    [calls("write", { path: "new.txt", content: "made\n" }), says("Wrote it.")],
    { args: ["--permission-mode", "acceptEdits"] },
  );
  await program.typeUntil("write a file\r", "Wrote it.");
  await program.shows((screen) => !screen.includes("esc stops"));
  expect(existsSync(join(program.cwd, "new.txt"))).toBe(true);
  await program.typeUntil(KEYS.ctrl("c"), "ctrl+c again leaves");
  // With another key it does not leave any more, and the status is there again.
  await program.typeUntil("x", (screen) => screen.includes("❯ x") && screen.includes("  acceptEdits · "));
  program.type(KEYS.backspace);
  await program.hides("❯ x");
  // Both in one piece, as terminals send it that tell Escape from the beginning of a sequence.
  await program.typeUntil("\u001B[27u\u001B[27u", "Rewind to before");
  expect(program.emulator.written).toContain("esc again goes back");
  await program.shows("1  Files and conversation");
  await program.typeUntil("1", "Rewound");
  await program.shows("❯ write a file");
  expect(existsSync(join(program.cwd, "new.txt"))).toBe(false);
});

test("a session is gone on with from a list, and what was typed before is there by Up and Ctrl+R", async () => {
  const home = tempFolder();
  const cwd = tempFolder();
  const server = await modelServer([says("First answer."), says("Second answer.")]);
  const env = modelEnv(server);
  const first = openTerminal({ home, cwd, env, args: ["the", "first", "question"] });
  await first.shows("First answer.");
  expect(await leave(first)).toBe(0);
  const second = openTerminal({ home, cwd, env, args: ["-r"] });
  await second.shows("── Resume");
  // The list is of what was asked; what is typed is looked for in all that was said.
  await second.typeUntil("answer", "▸ ✓ First answer.");
  await second.typeUntil("\r", (screen) => !screen.includes("── Resume"));
  await second.shows("First answer.");
  await second.typeUntil(
    KEYS.up,
    (screen) => screen.lastIndexOf("the first question") > screen.indexOf("First answer."),
  );
  second.type(KEYS.ctrl("c"));
  await second.typeUntil(KEYS.ctrl("r"), "Typed before");
  second.type("first\r");
  await second.shows(
    (screen) => screen.lastIndexOf("❯ the first question") > screen.indexOf("First answer."),
  );
  await second.typeUntil("\r", "Second answer.");
  expect(JSON.stringify(server.requests[1]?.body)).toContain("First answer.");
  expect(await leave(second)).toBe(0);
  const third = openTerminal({ home, cwd, env, args: ["-r"] });
  await third.shows("── Resume");
  await third.typeUntil(KEYS.escape, READY);
  expect(rowsOf(third).some((row) => row.includes("First answer."))).toBe(false);
  expect(await leave(third)).toBe(0);
});

test("a prompt given with -r goes to the session that is chosen", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const server = await modelServer([says("First answer."), says("Second answer.")]);
  const env = modelEnv(server);
  const first = openTerminal({ home, cwd, env, args: ["the first question"] });
  await first.shows("First answer.");
  expect(await leave(first)).toBe(0);
  const second = openTerminal({ home, cwd, env, args: ["-r", "--", "and the second"] });
  await second.shows("── Resume");
  await second.typeUntil("\r", "Second answer.");
  const sent = JSON.stringify(server.requests[1]?.body);
  expect([sent.includes("First answer."), sent.includes("and the second")]).toEqual([true, true]);
  expect(await leave(second)).toBe(0);
  const third = openTerminal({ home, cwd, env, args: ["-r", "--", "and a third"] });
  await third.shows("── Resume");
  await third.typeUntil(KEYS.escape, "❯ and a third");
  third.type(KEYS.ctrl("c"));
  await third.shows(READY);
  expect([await leave(third), server.requests.length]).toEqual([0, 2]);
});

test("with -r --fork-session the session that is chosen from the list is gone on with in a copy", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const server = await modelServer([says("First answer."), says("In the copy."), says("In the first.")]);
  const env = modelEnv(server);
  const first = openTerminal({ home, cwd, env, args: ["the first question"] });
  await first.shows("First answer.");
  await first.hides("esc stops");
  const copy = openTerminal({ home, cwd, env, args: ["-r", "--fork-session"] });
  await copy.shows("── Resume");
  await copy.typeUntil("\r", "First answer.");
  await copy.typeUntil("go on\r", "In the copy.");
  await first.typeUntil("go on\r", "In the first.");
  expect(server.requests.map(({ body }) => JSON.stringify(body).includes("In the copy."))).toEqual([
    false,
    false,
    false,
  ]);
});

test.each([
  ["SIGTERM", ["go\r"]],
  ["SIGHUP", []],
] as const)(
  "what is being written when %s comes is there when the session is opened again",
  async (signal, before) => {
    const { program, server } = await openScreen([says("Hello.")]);
    for (const text of before) {
      await program.typeUntil(text, "Hello.");
    }
    await program.typeUntil("half a thought", "❯ half a thought");
    program.signal(signal);
    await program.end;
    const { cwd, home } = program;
    const again = openTerminal({ cwd, home, args: ["-c"], env: modelEnv(server) });
    await again.shows((screen) => /on hold[^]*after 1 half a thought/.test(screen));
    expect(await leave(again)).toBe(0);
  },
);

test("what still waits in the queue when the screen is left is printed, and waits there when it is opened again", async () => {
  const { program, server } = await openScreen([[says("Half"), waits(NEVER)], says("Both read.")]);
  await program.typeUntil("go\r", "Half");
  await program.typeUntil("steered\r", "next    steered");
  await program.typeUntil(`first of all${KEYS.altEnter}`, "after 1 first of all");
  program.type(KEYS.ctrl("d"));
  await program.end;
  const rows = rowsOf(program);
  expect(rows.slice(rows.indexOf("Still queued when you resume:"))).toEqual([
    "Still queued when you resume:",
    "  steered",
    "  first of all",
    expect.stringMatching(/^To resume: nano-agent /),
  ]);
  const { cwd, home } = program;
  const again = openTerminal({ cwd, home, args: ["-c"], env: modelEnv(server) });
  await again.shows((screen) => /on hold[^]*after 1 steered[^]*after 2 first of all/.test(screen));
  await again.typeUntil("\u001Bqs", "Both read.");
  await again.shows((screen) => screen.includes("queue on hold") && screen.includes("after 1 first of all"));
  again.type(KEYS.escape);
  await again.hides("Queued messages");
  await again.typeUntil(KEYS.altUp, "❯ first of all");
  again.type(KEYS.ctrl("c"));
  await again.hides("first of all");
  expect(await leave(again)).toBe(0);
  expect(again.emulator.rows.join("\n")).not.toContain("Still queued");
});

test("the queue is a list: moved, dropped, edited in its place, and held while it is", async () => {
  const gate = Promise.withResolvers<void>();
  const { program, server } = await openScreen([
    [waits(gate.promise), says("Done first.")],
    says("Done rest."),
  ]);
  await program.typeUntil("go\r", "esc stops");
  for (const text of ["one", "two", "three"]) {
    await program.typeUntil(`${text}${KEYS.altEnter}`, ` ${text}`);
  }
  await program.typeUntil("\u001Bq", "Queued messages");
  await program.typeUntil(`${KEYS.down}\u001B[1;3A`, "1. two");
  program.type(`${KEYS.down}d`);
  await program.hides("2. one");
  await program.typeUntil(`${KEYS.up}\r`, "on hold");
  await program.typeUntil(` changed${KEYS.altEnter}`, "after 1 two changed");
  gate.resolve();
  await program.shows("Done rest.");
  const sent = JSON.stringify(server.requests[1]?.body);
  expect([sent.includes("two changed"), sent.includes("three"), sent.includes('"one"')]).toEqual([
    true,
    true,
    false,
  ]);
});

test("@ completes files, ignored ones left out, and a file of the name with blanks is quoted", async () => {
  const cwd = tempFolder({
    "src/parse-duration.js": "",
    "my notes.md": "",
    ".gitignore": "secret*\n",
    "secret-duration.js": "",
  });
  const { program, server } = await openScreen([says("Seen.")], { cwd });
  await program.typeUntil("see @dur", "src/parse-duration.js");
  expect(program.emulator.screen.some((row) => row.includes("secret"))).toBe(false);
  await program.typeUntil("\t", "see @src/parse-duration.js ");
  await program.typeUntil("@notes\t", '@"my notes.md"');
  await program.typeUntil("\r", "Seen.");
  expect(JSON.stringify(server.requests[0]?.body)).toContain("src/parse-duration.js");
});

test("the editor of the environment gets the text and gives it back, and the screen is whole again", async () => {
  const bin = tempFolder({ "edit.sh": '#!/bin/sh\necho "edited: $(cat "$1")" > "$1"\n' });
  const { program } = await openScreen([], { env: { VISUAL: `sh ${join(bin, "edit.sh")}` } });
  await program.typeUntil("draft", "❯ draft");
  await program.typeUntil(KEYS.ctrl("g"), "❯ edited: draft");
  program.type(KEYS.ctrl("c"));
  expect(await leave(program)).toBe(0);
});

test("Ctrl+Z gives the terminal to the shell, and fg comes back to what was written", async () => {
  const server = await modelServer([says("Hello.")]);
  const program = await openShell({ env: modelEnv(server) });
  await program.typeUntil(`${COMMAND}\r`, READY);
  await program.typeUntil("a draft", "❯ a draft");
  await program.typeUntil(KEYS.ctrl("z"), "Stopped");
  await program.typeUntil("echo in the $((1+1))nd shell\r", "in the 2nd shell");
  await program.typeUntil("fg\r", (screen) => screen.lastIndexOf("❯ a draft") > screen.indexOf("2nd shell"));
  await program.typeUntil("\r", "Hello.");
  await program.typeUntil(KEYS.ctrl("d"), "To resume:");
  expect(program.emulator.modes.wraparound).toBe(true);
});

test("Ctrl+Z in the middle of a run leaves a usable shell, and fg brings back what has come meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  const server = await modelServer([[says("The beginning, "), waits(gate.promise), says("and the end.")]]);
  const program = await openShell({ env: modelEnv(server) });
  await program.typeUntil(`${COMMAND} go\r`, "The beginning,");
  await program.typeUntil(KEYS.ctrl("z"), "Stopped");
  gate.resolve();
  await program.typeUntil("echo in the $((1+1))nd shell\r", "in the 2nd shell");
  await program.typeUntil("fg\r", "The beginning, and the end.");
  await program.hides("esc stops");
  await program.typeUntil(KEYS.ctrl("d"), "To resume:");
  program.type("exit $?\r");
  expect((await program.end).code).toBe(0);
});

test("plain mode writes lines only, numbers its choices and takes a refusal with its reason", async () => {
  const server = await modelServer([calls("bash", { command: "rm -rf build" }), says("I leave it.")]);
  const program = openTerminal({ args: ["--plain"], env: modelEnv(server) });
  await program.shows("> ");
  await program.typeUntil("/help\r", (screen) => /redo typing\n> /.test(screen));
  await program.typeUntil("clean up\r", "Number");
  // What was on its way when the question came, and a sentence that begins with a number, answer nothing.
  const replies = (): number => program.emulator.written.split(/\((?:This came|write the)/).length;
  while (!program.emulator.written.includes("(write the number")) {
    const before = replies();
    await program.typeUntil("1 more thing\r", () => replies() > before);
  }
  await program.typeUntil("3 it is needed\r", "I leave it.");
  program.type("/quit\r");
  const { code } = await program.end;
  expect([
    code,
    /\u001B/.test(program.emulator.written.replaceAll("\u001B[?25h", "")),
    program.emulator.written.includes("scroll"),
    JSON.stringify(server.requests[1]?.body).includes("it is needed"),
  ]).toEqual([3, false, false, true]);
});

test("leaving without a model is 41", async () => {
  const program = openTerminal({ env: NOBODY });
  await program.shows("Watch the demo");
  program.type(KEYS.escape);
  expect((await program.end).code).toBe(41);
});

test("what cannot be opened is said in a line, with its code", async () => {
  const program = openTerminal({ args: ["-m", "nobody/knows"], env: {} });
  expect((await program.end).code).toBe(2);
  expect(rowsOf(program).join("")).toContain("nobody");
  writeFileSync(join(program.cwd, "nano-agent.json"), "{ broken");
  const broken = openTerminal({ cwd: program.cwd, env: { OPENAI_API_KEY: "x" } });
  expect((await broken.end).code).toBe(52);
});
