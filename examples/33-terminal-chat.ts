// A chat in the terminal: a coding agent that asks before it changes something, is steered while it works,
// and takes its work back.
//   node examples/33-terminal-chat.ts [provider/model]
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createCodingSession, noticeText, type SessionView, type ViewItem } from "nano-agent/coding-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const name = process.argv[2];
const scratch = (): string => mkdtempSync(join(tmpdir(), "chat-"));
const demo = { cwd: scratch(), environment: { HOME: scratch() }, model: new ScriptedModel(script()) };
const session = await createCodingSession(name === undefined ? demo : { model: name });

for (const notice of session.notices) console.log(`(${noticeText(notice)})`);
session.onQuestion(({ tool, input, choices }) => {
  console.log(
    `? ${tool} ${String(input?.["path"] ?? input?.["command"])}: ${choices.map(({ choice }) => choice).join(" / ")}`,
  );
});
session.onChange(({ items }) => {
  for (const at of items) show(session.view.items[at]);
});

for await (const line of name === undefined ? person() : createInterface({ input: process.stdin })) {
  const [question] = session.questions;
  if (question !== undefined)
    session.answer(question.id, line === "once" ? { choice: "once" } : { choice: "no", reason: line });
  else if (line === "/undo") console.log(`undo: ${(await session.undo()).changes.length} file put back`);
  else if (line === "/stop") await session.stop();
  else if (session.view.state === "running") session.steer(line);
  else void session.send(line);
}
await session.close();

function show(item: ViewItem | undefined): void {
  if (item?.type === "user") console.log(`> ${item.text}`);
  if (item?.type === "answer" && item.state === "done") console.log(item.text);
  if (item?.type === "tool" && item.brief !== undefined)
    console.log(`${item.name} ${item.title}: ${item.brief}`);
  if (item?.type === "run_end") console.log(`(${item.stopReason})`);
}

// Without a model both sides are played.
function script() {
  return [
    calls("write", { path: "notes.md", content: "Tea is out.\n" }),
    async () => {
      await until(({ steering }) => steering.length > 0);
      return says("Noted.");
    },
    says("Yes, and milk."),
  ];
}

async function* person(): AsyncGenerator<string> {
  yield "Note that tea is out.";
  await until(({ state }) => state === "waiting");
  yield "once";
  await until(({ run }) => run?.turn === 2);
  yield "Milk too?";
  await until(({ state }) => state === "idle");
  yield "/undo";
}

async function until(holds: (view: SessionView) => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const off = session.onChange(() => holds(session.view) && resolve());
  if (holds(session.view)) resolve();
  await promise;
  off();
}
