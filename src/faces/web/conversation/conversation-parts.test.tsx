import { options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import type { SessionDetail } from "../../../server/server-api.ts";
import { askForm } from "../../../tools/ask-tool.ts";
import type { OfferedChoice, Question } from "../../../view/question.ts";
import type { ToolItem, ViewItem } from "../../../view/view.ts";
import { LanguageContext, WORDS } from "../language/language.ts";
import { Items } from "./block-view.tsx";
import { Conversation } from "./conversation.tsx";
import { QuestionView } from "./question-view.tsx";
import { SessionFeed } from "./session-feed.ts";
import { type OpenSession, SessionContext } from "./session-scope.ts";

/** The text of what is drawn, without its marks. */
function plain(html: string): string {
  return html
    .replaceAll(/<span class="[cfkns]">|<\/?mark>|<\/span>/g, "")
    .replaceAll(/<[^>]+>/g, "\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&")
    .replaceAll("&quot;", '"');
}

const question = (fields: Partial<Question>): Question => ({
  id: "q",
  type: "permission",
  time: 1,
  tool: "bash",
  reason: "no rule allows it",
  choices: [],
  ...fields,
});

function asked(fields: Partial<Question>): string {
  return renderToString(<QuestionView question={question(fields)} answer={() => Promise.resolve()} />);
}

/** A session that is open, drawn. */
function opened(more: Partial<OpenSession>): string {
  const nothing = (): void => undefined;
  const session: OpenSession = {
    ...new SessionFeed().snapshot,
    route: { type: "session", id: "s", view: "chat" },
    showDetails: nothing,
    showEntry: nothing,
    actions: { stop: nothing, fork: nothing, undo: nothing, redo: nothing },
    work: {
      announcement: undefined,
      announce: nothing,
      dismiss: nothing,
      attempt: () => Promise.resolve(undefined),
    },
    detail: undefined,
    retry: undefined,
    error: undefined,
    isWritable: true,
    canUndo: undefined,
    canRedo: false,
    ...more,
  };
  return renderToString(
    <SessionContext.Provider value={session}>
      <Conversation />
    </SessionContext.Provider>,
  );
}

describe("a question", () => {
  test("of the model shows one field at a time, with its options and room for own words", () => {
    const questions = [
      {
        question: "What about the rest?",
        options: [{ label: "Stop", description: "As today." }, { label: "Go on" }],
      },
      { question: "Which tests?", options: [{ label: "unit" }, { label: "e2e" }] },
    ];
    const fields = { type: "elicitation", tool: "ask_user", input: { questions }, reason: "" } as const;
    const html = asked({ ...fields, schema: askForm(questions) });
    expect(plain(html).replaceAll(/\s+/g, " ").trim()).toBe(
      "What about the rest? 1 of 2 1 Stop As today. 2 Go on No answer Esc",
    );
    expect(html).toContain(`placeholder="${WORDS.en.ownAnswer}"`);
  });

  test("about a plan shows all of it, and the ways to begin", () => {
    const plan = "1. Add `retry.ts`\n2. Use <b>it</b>";
    const options = [
      { value: "auto", label: "Start in auto" },
      { value: "default", label: "Start in ask" },
    ];
    const text = plain(asked({ type: "choice", tool: "present_plan", input: { plan }, reason: "", options }));
    expect(text.replaceAll(/\s+/g, " ").trim()).toBe(
      "Go ahead with this plan? 2 steps Add retry.ts Use <b>it</b> 1 Start in auto 2 Start in ask 3 Change it Keep planning Esc",
    );
  });

  test("says what is special, what it reaches and why, and offers each choice with the rule it adds", () => {
    const choices: readonly OfferedChoice[] = [
      { choice: "once" },
      { choice: "always", rule: "bash(npm install*)" },
      { choice: "no" },
      { choice: "stop" },
    ];
    const input = { command: "npm install msw", access: "network", reason: "msw is missing" };
    const text = plain(asked({ choices, input, runs: "network" })).replaceAll(/\s+/g, " ");
    const { choice, reached, questionKind, runOnce } = WORDS.en;
    for (const part of [
      questionKind.network,
      reached.network,
      "Reason given: msw is missing",
      runOnce,
      `${choice.always} bash(npm install*)`,
      choice.no,
      choice.stop,
    ])
      expect(text).toContain(part);
  });

  test("says that a command stays in the sandbox, and what a call is about without JSON around it", () => {
    expect(plain(asked({ input: { command: "make" }, runs: "inside" }))).toContain(WORDS.en.inSandbox);
    const text = plain(asked({ tool: "read", input: { path: "a.ts" }, reason: "" })).replaceAll(/\s+/g, " ");
    expect(text.trim()).toBe("Read a.ts");
  });

  test("shows the whole command, and what hides in it", () => {
    const command = `echo ${"x".repeat(5_000)}\u202e && rm -rf \u200b/`;
    const html = plain(asked({ input: { command } }));
    expect(html).toContain(`${"x".repeat(5_000)}‹U+202E› && rm -rf ‹U+200B›/`);
  });

  test("says whose it is, and shows a change as a diff", () => {
    const diff = {
      path: "a.ts",
      hunks: [{ oldStart: 1, newStart: 1, lines: ["-old <b>", "+new"] }],
      added: 1,
      removed: 1,
      isNew: false,
    };
    const text = plain(asked({ agent: "tester", tool: "edit", diff }));
    for (const part of ["tester asks: Edit", "a.ts", "old <b>", "new"]) expect(text).toContain(part);
  });

  test("shows a change to its end", () => {
    const lines = Array.from({ length: 300 }, (_, index) => `+line ${index}`);
    const hunks = [{ oldStart: 1, newStart: 1, lines }];
    expect(plain(asked({ diff: { path: "a.js", hunks, added: 300, removed: 0, isNew: true } }))).toContain(
      "line 299",
    );
  });

  test("names what does not show in the path and the lines of a change", () => {
    const hunks = [{ oldStart: 1, newStart: 1, lines: ["+if (u\u034fser\u00a0&& \u3164)"] }];
    const text = plain(asked({ diff: { path: "a\u3164.js", hunks, added: 1, removed: 0, isNew: true } }));
    for (const part of ["a‹U+3164›.js", "if (u‹U+034F›ser‹U+00A0›&& ‹U+3164›)"]) expect(text).toContain(part);
  });

  test("takes no click that was meant for the question before it, and keys at once", () => {
    let fieldset: { readonly onClickCapture?: (click: unknown) => void } = {};
    const before = { vnode: undefined, ...options };
    Object.assign(options, {
      vnode: ({ type, props }: VNode<typeof fieldset>) => {
        if (type === "fieldset") fieldset = props;
      },
    });
    asked({ choices: [{ choice: "once" }] });
    Object.assign(options, before);
    const isTaken = (detail: number, later: number): boolean => {
      let isStopped = false;
      fieldset.onClickCapture?.({
        detail,
        timeStamp: performance.now() + later,
        preventDefault: () => undefined,
        stopPropagation: () => (isStopped = true),
      });
      return !isStopped;
    };
    expect([isTaken(1, -1_000), isTaken(2, -1_000), isTaken(0, -1_000), isTaken(1, 1_000)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test("comes with its answers, once it is known who may give them", () => {
    const questions = [question({ choices: [{ choice: "once" }] })];
    const known = { readOnly: false } as SessionDetail;
    const [early, later] = [undefined, known].map((detail) =>
      opened({ view: { ...new SessionFeed().snapshot.view, questions }, detail }),
    );
    expect(early).not.toContain('class="ask"');
    expect(plain(later ?? "")).toContain(WORDS.en.runOnce);
  });

  test("for one of several values has them all, and none of them", () => {
    const options = [
      { value: "a", label: "First" },
      { value: "b", label: "Second" },
    ];
    const text = plain(asked({ type: "choice", options }));
    for (const part of ["First", "Second", WORDS.en.noneOfThese]) expect(text).toContain(part);
  });

  test("has nothing preselected, and a name for the group", () => {
    const html = asked({ choices: [{ choice: "once" }, { choice: "no" }] });
    expect(html).not.toMatch(/autofocus|checked|type="submit"/i);
    expect(html).toContain('aria-labelledby="question-q"');
  });
});

const base = { id: "i", version: 1, time: 1_767_225_600_000 };
const CALL: ToolItem = {
  ...base,
  type: "tool",
  callId: "c",
  name: "bash",
  input: { command: "npm test" },
  title: "npm test",
  state: "error",
  brief: "exit code 1",
  tail: "1 failed <i>",
  durationMs: 1_500,
};

function drawn(...items: readonly ViewItem[]): string {
  return renderToString(<Items items={items} />);
}

describe("an item", () => {
  test("of a failed call has its name, state, time, arguments and result", () => {
    const text = plain(drawn(CALL));
    for (const part of ["Run", "npm test", WORDS.en.marks.fail, "exit code 1", "1.5 s", "1 failed <i>"])
      expect(text).toContain(part);
  });

  test("of a subagent has what that did", () => {
    const inner: ViewItem = { ...base, id: "x", type: "answer", text: "Found *it*", state: "done" };
    const text = plain(
      drawn({ ...CALL, agent: { name: "searcher", outputTokens: 12, costUsd: undefined, items: [inner] } }),
    );
    for (const part of ["Subagent searcher", WORDS.en.costUnknown, "Found", "it"])
      expect(text).toContain(part);
  });

  test("of a failed attempt is not shown", () => {
    expect(drawn({ ...base, type: "answer", text: "half", state: "done", isVoid: true })).toBe(
      '<ol class="talk"></ol>',
    );
  });

  test("of a run that failed says why, in the language of the page", () => {
    const item: ViewItem = {
      ...base,
      type: "run_end",
      stopReason: "error",
      error: { code: "x", message: "no network" },
      durationMs: 12_000,
      costUsd: 0.25,
    };
    const html = renderToString(
      <LanguageContext.Provider value="zh">
        <Items items={[item]} />
      </LanguageContext.Provider>,
    );
    expect(plain(html).replaceAll("\n", "")).toBe("失败: no network · 12 秒 · $0.25");
  });

  test("of a person, a command, thinking, a remark and a compaction says what it is", () => {
    const text = plain(
      drawn(
        { ...base, id: "a", type: "user", text: "Do <this>", images: 2, source: "steering" },
        { ...base, id: "b", type: "shell", command: "ls", output: "a.txt", exitCode: null, shared: false },
        { ...base, id: "c", type: "thinking", text: "Well, well", state: "done" },
        { ...base, id: "d", type: "notice", notice: { level: "warning", code: "other", message: "Careful" } },
        { ...base, id: "e", type: "compaction", before: 90_000, after: 1_000, method: "summary" },
      ),
    ).replaceAll(/\s+/g, " ");
    const { words } = { words: WORDS.en };
    for (const part of [
      words.said.steering,
      "Do <this>",
      words.images(2),
      "! ls",
      words.exitCode(null),
      words.notShared,
      "a.txt",
      words.thoughts(2),
      "Warning : Careful".replace(" :", ":"),
      "Compacted from 90k to 1k tokens",
    ])
      expect(text).toContain(part);
  });
});

test("the end of a run says what was checked since the last change, in both languages", () => {
  const check = { command: "npm test", exitCode: 0, ms: 5 };
  const ends = [[], [{ ...check, afterLastChange: false }], [{ ...check, afterLastChange: true }]].map(
    (checks, at): ViewItem => ({
      id: `e${at}`,
      version: 1,
      time: 1,
      type: "run_end",
      stopReason: "completed",
      durationMs: 1,
      costUsd: undefined,
      evidence: { changed: ["a.ts", "b.ts"], checks },
    }),
  );
  const shown = (language: "en" | "zh"): readonly string[] =>
    ends.map((item) =>
      plain(
        renderToString(
          <LanguageContext.Provider value={language}>
            <Items items={[item]} />
          </LanguageContext.Provider>,
        ),
      ).replaceAll(/\s+/g, " "),
    );
  const [none, before, after] = shown("en");
  expect(none).toContain("2 files changed · nothing was run since the last change");
  expect(before).toContain("nothing was run since the last change; before it npm test passed");
  expect(after).toContain("2 files changed · npm test passed after the last change");
  expect(shown("zh")[2]).toContain("改动了 2 个文件 · 最后一次改动之后：npm test 通过");
});

test("files that were changed without undo are those of the results", () => {
  const feed = new SessionFeed();
  const results = ["@@ -0,0 +1 @@\n+a", "@@ -1 +1,2 @@\n-a\n+b\n+c"].map((diff, at) => ({
    id: `r${at}`,
    parent: null,
    time: 1,
    type: "tool_result" as const,
    callId: `c${at}`,
    name: "write",
    status: "ok" as const,
    result: { type: "tool_result" as const, tool_use_id: `c${at}`, content: "" },
    durationMs: 1,
    metadata: { diff, created: at === 0, path: "/outside/a.ts" },
  }));
  for (const entry of results) feed.apply({ type: "entry", entry });
  const text = plain(opened(feed.snapshot).split('class="side"')[1] ?? "").replaceAll(/\s+/g, " ");
  expect(text).toContain("Files changed +3 −1 A /outside/a.ts +3 −1");
});
