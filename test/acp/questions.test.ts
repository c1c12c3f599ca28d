import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import { modelServer } from "../e2e/command.ts";
import { type Editor, loadSession, newSession, prompt, startEditor } from "./editor.ts";

test("a call is announced before it is asked about; a yes runs it, a no makes it fail", async () => {
  const step = () => [calls("bash", { command: "touch made" }), says("Done.")];
  for (const isAllowed of [true, false]) {
    const server = await modelServer(step());
    const seen: string[] = [];
    const editor = await startEditor({
      server,
      answer: ({ toolCall, options }) => {
        const known = editor.updates.some(
          (update) => update.sessionUpdate === "tool_call" && update.toolCallId === toolCall.toolCallId,
        );
        seen.push(known ? "known" : "unknown", ...options.map(({ kind }) => kind));
        return (
          options.find(({ kind }) => kind === (isAllowed ? "allow_once" : "reject_once"))?.optionId ?? ""
        );
      },
    });
    const id = await newSession(editor);
    const end = await prompt(editor, id, "Make it");
    const last = editor.updates.filter((update) => update.sessionUpdate === "tool_call_update").at(-1);
    expect([end.stopReason, seen[0], seen.includes("allow_always"), last?.status, editor.problems]).toEqual([
      "end_turn",
      "known",
      true,
      isAllowed ? "completed" : "failed",
      [],
    ]);
  }
});

test("what is asked about shows characters that turn a text round", async () => {
  const server = await modelServer([calls("write", { path: "a\u202Etxt.sh", content: "" }), says("ok")]);
  const titles: unknown[] = [];
  const editor = await startEditor({
    server,
    answer: ({ toolCall, options }) => {
      titles.push(toolCall.title);
      return options.find(({ kind }) => kind === "reject_once")?.optionId ?? "";
    },
  });
  await prompt(editor, await newSession(editor), "Make it");
  expect(titles).toEqual(["Write a‹U+202E›txt.sh"]);
});

test("what does not show in a change stands below it as its number", async () => {
  const contents = ["a \u202E b", "a\r# b\u001B[8m \b", "a\r\nb\n"];
  const server = await modelServer(
    contents.flatMap((content) => [calls("write", { path: "a.sh", content }), says("ok")]),
  );
  const texts: unknown[] = [];
  const editor = await startEditor({
    server,
    answer: ({ toolCall, options }) => {
      for (const each of toolCall.content ?? [])
        if (each.type === "content" && each.content.type === "text") texts.push(each.content.text);
      return options.find(({ kind }) => kind === "reject_once")?.optionId ?? "";
    },
  });
  const id = await newSession(editor);
  for (const _ of contents) await prompt(editor, id, "Make it");
  expect(texts).toEqual([
    expect.stringContaining('"content": "a ‹U+202E› b"'),
    expect.stringContaining('"content": "a‹U+000D›# b‹U+001B›[8m ‹U+0008›"'),
  ]);
});

test("a question is titled with all that its call would do, and a path cannot begin a line of it", async () => {
  const inputs = [
    ["write", { path: "a.sh\n- harmless", content: "x" }],
    ["edit", { path: "b.sh", edits: [{ old_string: "a", new_string: "b", replace_all: true }] }],
    ["bash", { command: "touch x", background: true }],
    ["write", { path: "b.sh", content: "c\n" }],
  ] as const;
  const answers = [
    calls("read", { path: "b.sh" }),
    says("read"),
    ...inputs.flatMap(([tool, input]) => [calls(tool, input), says("ok")]),
  ];
  const titles: unknown[] = [];
  const diffs: unknown[] = [];
  const editor = await startEditor({
    server: await modelServer(answers),
    answer: ({ toolCall, options }) => {
      titles.push(toolCall.title);
      for (const each of toolCall.content ?? [])
        if (each.type === "diff") diffs.push([basename(each.path), each.oldText, each.newText]);
      return options.find(({ kind }) => kind === "reject_once")?.optionId ?? "";
    },
  });
  writeFileSync(join(editor.cwd, "b.sh"), "a a\n");
  const id = await newSession(editor);
  for (const _ of [...inputs, "read"]) await prompt(editor, id, "Go on");
  expect([titles, diffs]).toEqual([
    ["Write a.sh‹U+000A›- harmless", "Edit b.sh", 'Run touch x {"background":true}', "Write b.sh"],
    [
      ["a.sh\n- harmless", undefined, "x"],
      ["b.sh", "a a\n", "b b\n"],
      ["b.sh", "a a\n", "c\n"],
    ],
  ]);
});

test("an answer that was not offered is a no, whatever number it may be read as", async () => {
  const ids = ["", " 0", "00", "0x0", "-0", "0.0", "1e0", "no such option"];
  const server = await modelServer(
    ids.flatMap((_, at) => [calls("write", { path: `${at}`, content: "" }), says("ok")]),
  );
  const left = [...ids];
  const editor = await startEditor({ server, answer: () => left.shift() ?? "" });
  const id = await newSession(editor);
  for (const _ of ids) await prompt(editor, id, "Make it");
  expect([editor.questions.length, readdirSync(editor.cwd)]).toEqual([ids.length, []]);
});

/** An agent that was killed when it asked about a call; a yes to the others had come, and nothing of it. */
async function killedAsking(server: ScriptedServer, title: string) {
  const asked = Promise.withResolvers<void>();
  const killed = await startEditor({
    server,
    answer: ({ toolCall, options }) => {
      if (toolCall.title !== title) return options.find(({ kind }) => kind === "allow_once")?.optionId ?? "";
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  const { cwd, state } = killed;
  const id = await newSession(killed);
  const lost = prompt(killed, id, "Make it").catch(() => "lost");
  await asked.promise;
  killed.kill();
  await Promise.all([lost, killed.end]);
  return { id, cwd, state, problems: killed.problems };
}

/** An editor that goes on with a session. */
async function editorOn(session: string, options: Parameters<typeof startEditor>[0]): Promise<Editor> {
  const editor = await startEditor(options);
  await loadSession(editor, session);
  return editor;
}

test("what a killed agent had asked is asked with the next prompt, until there is an answer", async () => {
  const server = await modelServer([
    calls("write", { path: "made", content: "1\n" }),
    says("It is made."),
    says("Go on I do."),
  ]);
  const { id, cwd, state, problems } = await killedAsking(server, "Write made");

  // Neither an editor that cancels nor one that goes away has answered.
  const again = Promise.withResolvers<void>();
  const cancels: Editor = await editorOn(id, {
    server,
    cwd,
    state,
    answer: async ({ sessionId }) => {
      if (cancels.questions.length === 1) {
        await cancels.agent.notify(methods.agent.session.cancel, { sessionId });
        return "cancelled";
      }
      again.resolve();
      return new Promise(() => undefined);
    },
  });
  expect(await prompt(cancels, id, "Go on")).toMatchObject({ stopReason: "cancelled" });
  const left = prompt(cancels, id, "Go on").catch(() => "lost");
  await again.promise;
  cancels.leave();
  await Promise.all([left, cancels.end]);

  const editor = await editorOn(id, {
    server,
    cwd,
    state,
    answer: ({ options }) => options.find(({ kind }) => kind === "allow_once")?.optionId ?? "",
  });
  const end = await prompt(editor, id, "Go on");
  const said = editor.updates.filter((update) => update.sessionUpdate === "agent_message_chunk");
  expect([
    end.stopReason,
    editor.questions.map(({ toolCall }) => toolCall.title),
    readdirSync(cwd),
    said.map(({ content }) => content.type === "text" && content.text).join(""),
    server.requests.length,
    [...problems, ...cancels.problems, ...editor.problems],
  ]).toEqual(["end_turn", ["Write made"], ["made"], "It is made.Go on I do.", 3, []]);
});

const BOTH = ["a", "b"].map((path) => calls("write", { path, content: "" }));

test("of two calls that a killed agent had asked about, one is refused, the other made, and the prompt sent", async () => {
  const server = await modelServer([BOTH, says("One is made."), says("Go on I do.")]);
  const { id, cwd, state } = await killedAsking(server, "Write b");
  const editor = await editorOn(id, {
    server,
    cwd,
    state,
    answer: ({ toolCall, options }) => {
      const kind = toolCall.title === "Write a" ? "reject_once" : "allow_once";
      return options.find((option) => option.kind === kind)?.optionId ?? "";
    },
  });
  const end = await prompt(editor, id, "Go on");
  const titles = editor.questions.map(({ toolCall }) => toolCall.title);
  expect([end.stopReason, titles, readdirSync(cwd), server.requests.length]).toEqual([
    "end_turn",
    ["Write a", "Write b"],
    ["b"],
    3,
  ]);
});

test("a stop to one of two calls that a killed agent had asked about lets neither run, and the prompt goes on", async () => {
  const server = await modelServer([BOTH, says("Go on I do.")]);
  const { id, cwd, state } = await killedAsking(server, "Write b");
  const editor = await editorOn(id, {
    server,
    cwd,
    state,
    answer: ({ toolCall }) => (toolCall.title === "Write a" ? "stop" : new Promise(() => undefined)),
  });
  expect(await prompt(editor, id, "Go on")).toEqual({ stopReason: "end_turn" });
  expect([readdirSync(cwd), server.requests.length]).toEqual([[], 2]);
});

test("questions of the model come one by one with their options, and a plan with its ways to begin", async () => {
  const questions = [
    { question: "What about the rest?", options: [{ label: "Stop" }, { label: "Go on" }] },
    { question: "Which tests?", options: [{ label: "unit" }, { label: "e2e" }], multiple: true },
  ];
  const server = await modelServer([
    calls("ask_user", { questions }),
    calls("present_plan", { plan: "1. Add retry.ts" }),
    says("Done."),
  ]);
  const seen: unknown[] = [];
  const editor = await startEditor({
    server,
    args: ["--permission-mode", "plan"],
    answer: ({ toolCall, options }) => {
      seen.push([toolCall.title, ...options.map(({ name }) => name)]);
      return options[1]?.optionId ?? "";
    },
  });
  const { stopReason } = await prompt(editor, await newSession(editor), "Plan it");
  const asked = JSON.stringify(server.requests.at(-1)?.body);
  expect([seen, stopReason, asked.includes("Answer: Go on"), asked.includes("Answer: e2e")]).toEqual([
    [
      ["What about the rest?", "Stop", "Go on", "No answer"],
      ["Which tests?", "unit", "e2e", "No answer"],
      ["Go ahead with this plan?", "Start in auto", "Start in ask", "Keep planning"],
    ],
    "end_turn",
    true,
    true,
  ]);
});
