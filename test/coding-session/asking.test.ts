import { expect, test } from "vitest";
import type { CodingSession } from "../../src/coding/session/coding-session.ts";
import { messageText } from "../../src/core/message/message.ts";
import { calls, says } from "../../src/testing/script.ts";
import type { Question, QuestionReply } from "../../src/view/question.ts";
import { type Place, place } from "./open.ts";

const ON_FAILURE = "When an upload fails, what about the rest?";
const QUESTIONS = [
  {
    question: ON_FAILURE,
    options: [{ label: "Stop there", description: "As today." }, { label: "Go on" }],
  },
  { question: "Which tests?", options: [{ label: "unit" }, { label: "e2e" }], multiple: true },
];
const ASKS = calls("ask_user", { questions: QUESTIONS });
const PLAN = "1. Add src/retry.ts\n2. Use it";
const PLANS = calls("present_plan", { plan: PLAN });

/** The results of all calls, as the model saw them. */
function results({ model }: Pick<Awaited<ReturnType<Place["open"]>>, "model">): readonly string[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  return messages.flatMap((message) =>
    message.role !== "user"
      ? []
      : message.content.flatMap((block) =>
          block.type === "tool_result"
            ? [
                typeof block.content === "string"
                  ? block.content
                  : messageText({ role: "user", content: block.content }),
              ]
            : [],
        ),
  );
}

function replying(session: CodingSession, ...replies: readonly QuestionReply[]): readonly Question[] {
  const asked: Question[] = [];
  session.onQuestion((question) => {
    asked.push(question);
    session.answer(question.id, replies[asked.length - 1] ?? { choice: "no" });
  });
  return asked;
}

test("the model's questions are one form, and what is chosen or written is the result of the call", async () => {
  const { open } = place();
  await using session = await open([ASKS, says("Done.")]);
  const asked = replying(session, {
    value: { [ON_FAILURE]: "Ask me again", "Which tests?": ["unit", "e2e"] },
  });
  const { exitCode, denials } = await session.send("Go");
  expect(asked).toMatchObject([
    { type: "elicitation", tool: "ask_user", input: { questions: QUESTIONS }, reason: "" },
  ]);
  expect([results(session), exitCode, denials]).toEqual([
    [`${ON_FAILURE}\nAnswer: Ask me again\n\nWhich tests?\nAnswer: unit; e2e`],
    0,
    [],
  ]);
});

test.each<[string, QuestionReply, string]>([
  ["nobody's", { choice: "no" }, "No answer: continue with your best judgment."],
  [
    "the answer to one of two",
    { value: { [ON_FAILURE]: "Go on" } },
    `${ON_FAILURE}\nAnswer: Go on\n\nWhich tests?\nNo answer: use your best judgment.`,
  ],
])("%s answer lets the run go on", async (_, reply, result) => {
  const { open } = place();
  await using session = await open([ASKS, says("Done.")]);
  replying(session, reply);
  expect([(await session.send("Go")).text, results(session)]).toEqual(["Done.", [result]]);
});

test("an answer that is none of the form is refused with a word, and the question stays", async () => {
  const { open } = place();
  await using session = await open([ASKS, says("Done.")]);
  session.onQuestion(() => undefined);
  const run = session.send("Go");
  await expect.poll(() => session.questions.length).toBe(1);
  const id = session.questions[0]?.id ?? "";
  const said = (reply: QuestionReply): string => {
    try {
      session.answer(id, reply);
      return "taken";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect([
    said({ value: { [ON_FAILURE]: 7 } }),
    said({ value: { "Another question?": "x" } }),
    said({ choice: "once" }),
    session.questions.length,
  ]).toEqual([
    expect.stringContaining("does not fit"),
    expect.stringContaining("does not fit"),
    expect.stringContaining("not offered"),
    1,
  ]);
  session.answer(id, { choice: "stop" });
  expect((await run).stopReason).toBe("denied");
});

const options = (...labels: readonly string[]) => labels.map((label) => ({ label }));
test.each<[string, unknown, string]>([
  ["no questions", [], "questions: must have 1 to 4 items, got 0"],
  [
    "five questions",
    Array.from({ length: 5 }, (_, at) => ({ question: `${at}?`, options: options("a", "b") })),
    "must have 1 to 4 items, got 5",
  ],
  ["no options", [{ question: "a?", options: [] }], "questions[0].options: must have 2 to 5 items, got 0"],
  [
    "twenty options",
    [{ question: "a?", options: options(..."abcdefghijklmnopqrst") }],
    "must have 2 to 5 items, got 20",
  ],
  [
    "an empty label",
    [{ question: "a?", options: options("x", "  ") }],
    "options[1].label: must not be empty",
  ],
  [
    "the same label twice",
    [{ question: "a?", options: options("x", "X ") }],
    'options[1].label: is a duplicate: "X "',
  ],
  [
    "an empty question",
    [{ question: "", options: options("a", "b") }],
    "questions[0].question: must not be empty",
  ],
  [
    "the same question twice",
    [1, 2].map(() => ({ question: "a?", options: options("a", "b") })),
    'questions[1].question: is a duplicate: "a?"',
  ],
])("with %s nobody is asked, and the model is told what is wrong", async (_, questions, fault) => {
  const { open } = place();
  await using session = await open([calls("ask_user", { questions }), says("Done.")]);
  const asked = replying(session);
  await session.send("Go");
  expect([asked, results(session)]).toEqual([[], [expect.stringContaining(fault)]]);
});

test("what asks is offered where somebody can answer, and nowhere else", async () => {
  const { open } = place();
  const offered = async (
    prepare: (session: CodingSession) => void,
    mode?: "plan",
  ): Promise<readonly string[]> => {
    await using session = await open([says("Done.")], mode && { permissionMode: mode });
    prepare(session);
    await session.send("Go");
    const names = session.model.requests[0]?.tools?.map(({ name }) => name) ?? [];
    expect(session.info.tools.filter((name) => names.includes(name))).toEqual(names);
    return names.filter((name) => /ask_user|present_plan/.test(name));
  };
  expect([
    await offered((session) => session.onQuestion(() => undefined)),
    await offered((session) => session.onQuestion(() => undefined, { values: false })),
    await offered((session) => session.onQuestion(() => undefined)()),
    await offered(() => undefined, "plan"),
  ]).toEqual([["ask_user", "present_plan"], [], [], ["present_plan"]]);
});

test.each<["auto" | "default", string]>([
  ["auto", "Approved: carry out the plan now."],
  ["default", "Approved: carry out the plan now. The user is asked before each change."],
])("a plan that is approved begins the work in %s, and stays in the view", async (mode, result) => {
  const { open } = place();
  await using session = await open([PLANS, says("Done.")], { permissionMode: "plan" });
  const asked = replying(session, { value: mode });
  await session.send("Go");
  expect(asked).toMatchObject([
    { type: "choice", options: [{ value: "auto" }, { value: "default" }], input: { plan: PLAN } },
  ]);
  expect([session.info.mode, session.view.plan, results(session)]).toEqual([mode, PLAN, [result]]);
});

test("a plan that is sent back is planned again with the words of the person", async () => {
  const { open } = place();
  const second = `${PLAN}\n3. Test it`;
  await using session = await open([PLANS, calls("present_plan", { plan: second }), says("Done.")], {
    permissionMode: "plan",
  });
  replying(session, { choice: "no", reason: "add a test" }, { value: "default" });
  const { denials } = await session.send("Go");
  expect([results(session)[0], session.view.plan, denials]).toEqual([
    "Not yet. The user says: add a test\nChange the plan and present it again.",
    second,
    [],
  ]);
});

test("who goes on planning ends the run, with nothing approved", async () => {
  const { open } = place();
  await using session = await open([PLANS], { permissionMode: "plan" });
  replying(session, { choice: "stop" });
  const { exitCode, text } = await session.send("Go");
  expect([exitCode, text, session.info.mode, session.view.plan]).toEqual([0, PLAN, "plan", undefined]);
});

test("with nobody there the plan is the answer", async () => {
  const { open } = place();
  await using session = await open([PLANS], { permissionMode: "plan" });
  const { exitCode, text, stopReason } = await session.send("Go");
  expect([exitCode, text, stopReason]).toEqual([0, PLAN, "finish_tool"]);
});

test("a plan in another mode, and one too long to be read, are errors that say what to do", async () => {
  const { open } = place();
  await using working = await open([PLANS, says("Done.")]);
  const asked = replying(working);
  await working.send("Go");
  await using planning = await open([calls("present_plan", { plan: "x".repeat(200_000) }), says("Done.")], {
    permissionMode: "plan",
  });
  replying(planning);
  await planning.send("Go");
  expect([asked, results(working), results(planning), planning.questions]).toEqual([
    [],
    ["Error: The mode is ask and not plan: no plan needs approval, do the work."],
    [expect.stringContaining("The plan has 200000 characters, and a person reads 20000: write it shorter")],
    [],
  ]);
});

/** Asks and ends as a process that is killed does. */
async function leftAt({ open }: Place, step: typeof ASKS, mode?: "plan"): Promise<string> {
  const session = await open([step], mode && { permissionMode: mode });
  session.onQuestion(() => undefined);
  const run = session.send("Go");
  await expect.poll(() => session.questions.length).toBe(1);
  session.killNow();
  await run;
  return session.id;
}

test("a question outlives its process, and the answer to it is the result of the same call", async () => {
  const room = place();
  const id = await leftAt(room, ASKS);
  await using session = await room.open([says("Done.")], { resume: { id } });
  session.onQuestion(() => undefined);
  const [question] = session.questions;
  expect(question).toMatchObject({ type: "elicitation", tool: "ask_user", input: { questions: QUESTIONS } });
  session.answer(question?.id ?? "", { value: { [ON_FAILURE]: "Go on" } });
  await expect.poll(() => session.lastOutcome?.text).toBe("Done.");
  expect(results(session)).toEqual([
    `${ON_FAILURE}\nAnswer: Go on\n\nWhich tests?\nNo answer: use your best judgment.`,
  ]);
});

test("a plan outlives its process, and a yes to it changes the mode of the next one", async () => {
  const room = place();
  const id = await leftAt(room, PLANS, "plan");
  await using session = await room.open([says("Done.")], { resume: { id }, permissionMode: "plan" });
  session.onQuestion(() => undefined);
  session.answer(session.questions[0]?.id ?? "", { value: "default" });
  await expect.poll(() => session.lastOutcome?.text).toBe("Done.");
  expect([session.info.mode, session.view.plan]).toEqual(["default", PLAN]);
});

test("an answer that comes after the run has ended says so, and changes nothing", async () => {
  const { open } = place();
  await using session = await open([ASKS, says("Again.")]);
  session.onQuestion(() => undefined);
  const run = session.send("Go");
  await expect.poll(() => session.questions.length).toBe(1);
  const id = session.questions[0]?.id ?? "";
  await session.stop();
  await run;
  expect(() => session.answer(id, { value: {} })).toThrow("it was answered or withdrawn");
  expect((await session.send("Go on")).text).toBe("Again.");
});

test("an approved plan stays whole when the conversation is compacted", async () => {
  const { open } = place();
  const plan = `# Plan\n\n${Array.from({ length: 200 }, (_, at) => `${at}. step ${at}`).join("\n")}`;
  await using session = await open(
    [
      calls("present_plan", { plan }),
      says("Working. ".repeat(2_000)),
      says("More."),
      says("A summary."),
      says("Done."),
    ],
    { permissionMode: "plan" },
  );
  replying(session, { value: "default" });
  await session.send("Go");
  await session.send("On");
  await session.compact();
  await session.send("And on");
  const sent = JSON.stringify(session.model.requests.at(-1)?.messages);
  expect([sent.includes(JSON.stringify(plan).slice(1, -1)), session.view.plan]).toEqual([true, plan]);
});
