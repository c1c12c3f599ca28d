import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, span, wrapLine } from "../../src/faces/terminal/paint/line.ts";
import type { Appearance } from "../../src/faces/terminal/paint/theme.ts";
import { Renderer } from "../../src/faces/terminal/tty/renderer.ts";
import { Emulator } from "./emulator.ts";

const LOOK: Appearance = { theme: "ansi", colour: true, unicode: true, links: true };

function room(columns: number, rows: number) {
  const emulator = new Emulator({ columns, rows });
  let pending = "";
  const renderer = new Renderer({
    write: (text) => void (pending += text),
    appearance: () => LOOK,
    reflow: () => "counting",
    rows,
  });
  const flush = async (): Promise<string> => {
    const text = pending;
    pending = "";
    await emulator.write(text);
    return text;
  };
  return { emulator, renderer, flush };
}

function lines(...texts: readonly string[]): readonly Line[] {
  return texts.map((text) => [span(text)]);
}

test("final lines are printed once, and what stands below is drawn in place", async () => {
  const { emulator, renderer, flush } = room(20, 5);
  await emulator.write("$ nano-agent\r\n");
  renderer.draw({ final: [], live: lines("> hi", "status"), caret: { row: 0, column: 4 } });
  renderer.draw({
    final: lines("one", "two", "three"),
    live: lines("> ", "status"),
    caret: { row: 0, column: 2 },
  });
  renderer.draw({ final: lines("four"), live: lines("> x", "status"), caret: { row: 0, column: 3 } });
  await flush();
  expect([emulator.rows, emulator.cursor]).toEqual([
    ["$ nano-agent", "one", "two", "three", "four", "> x", "status"],
    { row: 3, column: 3 },
  ]);
});

test("of a frame only the rows that changed are written", async () => {
  const { emulator, renderer, flush } = room(80, 10);
  const draw = (answer: string): void =>
    renderer.draw({ final: [], live: lines("above", answer, "> ", "status"), caret: { row: 2, column: 2 } });
  draw("an answer that is");
  await flush();
  draw("an answer that is long");
  const written = await flush();
  expect([/above|status/.test(written), emulator.rows, emulator.cursor]).toEqual([
    false,
    ["above", "an answer that is long", "> ", "status"],
    { row: 2, column: 2 },
  ]);
});

test("a frame that changes nothing writes nothing", async () => {
  const { renderer, flush } = room(80, 10);
  const frame = { final: [], live: lines("a", "b"), caret: { row: 0, column: 1 } };
  renderer.draw(frame);
  await flush();
  renderer.draw({ ...frame, live: lines("a", "b") });
  expect(await flush()).toBe("");
});

test("a cleared screen loses no final line, and a multiplexer that keeps what is erased from its corner keeps nothing of ours", async () => {
  const { emulator, renderer, flush } = room(20, 5);
  const live = { live: lines("> ", "status"), caret: { row: 0, column: 2 } };
  renderer.draw({ final: [], ...live });
  renderer.repaint();
  renderer.draw({ final: lines("one", "two"), ...live });
  renderer.clearScreen();
  renderer.draw({ final: [], ...live });
  renderer.resize({ columns: 20, rows: 5 });
  renderer.draw({ final: [], ...live });
  const written = await flush();
  // tmux: "clear to the end" in the first column of the first row scrolls the screen away.
  expect([/(?:\r|\u001B\[H)\u001B\[J/.test(written), emulator.rows.filter((row) => row !== "")]).toEqual([
    false,
    ["one", "two", "> ", "status"],
  ]);
  expect(emulator.screen.slice(0, 2)).toEqual(["> ", "status"]);
});

const TEXT = fc
  .array(
    fc.constantFrom(
      "word ",
      "字符",
      "👩‍👩‍👧",
      "é",
      "🇩🇪",
      "x",
      "a\u001B[2Jb",
      "\u009Bc",
      "\u202Ed",
      "longlonglong",
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ final: fc.array(TEXT, { maxLength: 3 }), live: fc.array(TEXT, { maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      columns: fc.integer({ min: 30, max: 60 }),
      rows: fc.integer({ min: 10, max: 20 }),
    }),
  },
);

test("whatever is drawn and however the window changes, each final line is there once and in order, below what stood there before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 25 }), async (steps) => {
      const { emulator, renderer, flush } = room(40, 12);
      await emulator.write("$ before 1\r\n$ before 2\r\n");
      let columns = 40;
      const wanted: string[] = ["$before1", "$before2"];
      let count = 0;
      let live: readonly Line[] = [];
      const fit = (text: string): readonly Line[] => wrapLine([span(text)], { width: columns }).slice(0, 2);
      for (const step of steps) {
        if ("columns" in step) {
          emulator.resize(step);
          columns = step.columns;
          renderer.resize(step);
        } else {
          const final = step.final.flatMap((text) => fit(`#${++count}#${text}`));
          wanted.push(
            ...final.map((row) =>
              row
                .map((each) => each.text)
                .join("")
                .replaceAll(" ", ""),
            ),
          );
          // Broken anew, the live rows must still fit the smallest window: what leaves it is out of reach.
          live = step.live.flatMap(fit).slice(0, 3);
          renderer.draw({ final, live: [...live, [span(">")]], caret: { row: live.length, column: 1 } });
        }
        await flush();
      }
      renderer.draw({ final: [], live: [], caret: { row: 0, column: 0 } });
      await flush();
      expect(emulator.rows.join("").replaceAll(" ", "")).toBe(wanted.join(""));
      emulator.dispose();
    }),
    { numRuns: 300 },
  );
});

const SURE = fc
  .array(fc.constantFrom("word ", "字符", "longlonglong", "x", "a-b "), { minLength: 1, maxLength: 30 })
  .map((parts) => parts.join(""));

test("a frame that reaches a window when it has another size already overwrites no line", async () => {
  const frame = fc.record({
    final: fc.array(SURE, { maxLength: 3 }),
    live: fc.array(SURE, { maxLength: 3 }),
    size: fc.constant(null),
  });
  const outrun = fc.record({
    final: fc.array(SURE, { maxLength: 3 }),
    live: fc.array(SURE, { maxLength: 3 }),
    size: fc.record({ columns: fc.integer({ min: 20, max: 70 }), rows: fc.integer({ min: 20, max: 30 }) }),
  });
  const frames = fc.tuple(fc.array(frame, { maxLength: 4 }), outrun, fc.array(frame, { maxLength: 3 }));
  await fc.assert(
    fc.asyncProperty(frames, async ([earlier, late, after]) => {
      const steps = [...earlier, late, ...after];
      const { emulator, renderer, flush } = room(60, 24);
      await emulator.write("$ before 1\r\n$ before 2\r\n");
      let columns = 60;
      const wanted: string[] = [];
      for (const { final, live, size } of steps) {
        const fit = (text: string): readonly Line[] => wrapLine([span(text)], { width: columns });
        const lines = final.map((text, index) => `#${wanted.length + index}#${text}`);
        wanted.push(...final.map((text) => text.replaceAll(" ", "")));
        const below = live.flatMap((text) => fit(text).slice(0, 1));
        renderer.draw({
          final: lines.flatMap(fit),
          live: [...below, [span(">")]],
          caret: { row: below.length, column: 1 },
        });
        // The window changes, the frame comes, and only then is the change known here.
        if (size !== null) emulator.resize(size);
        await flush();
        if (size === null) continue;
        renderer.resize(size);
        columns = size.columns;
        await flush();
      }
      const text = emulator.rows.join("").replaceAll(" ", "");
      const [before, ...printed] = text.split(/#\d+#/);
      expect(before?.slice(0, 16)).toBe("$before1$before2");
      // What was drawn in place may have been left behind between and in them.
      expect(wanted.filter((each, index) => !isPartOf(each, printed[index] ?? ""))).toEqual([]);
      expect(printed).toHaveLength(wanted.length);
      emulator.dispose();
    }),
    { numRuns: 100, endOnFailure: true },
  );
});

test("at the lower edge rows that break in a narrower window scroll, and the line above them stays", async () => {
  const { emulator, renderer, flush } = room(60, 12);
  const caret = { row: 3, column: 1 };
  const final = Array.from({ length: 12 }, (_, index) => `line ${index}`);
  renderer.draw({ final: lines(...final), live: lines("a", "b", "c", ">"), caret });
  await flush();
  renderer.draw({ final: [], live: lines("A".repeat(50), "B".repeat(50), "C".repeat(50), ">"), caret });
  emulator.resize({ columns: 20, rows: 12 });
  await flush();
  renderer.resize({ columns: 20, rows: 12 });
  renderer.draw({ final: [], live: lines(">"), caret: { row: 0, column: 1 } });
  await flush();
  expect(emulator.rows.filter((row) => row.startsWith("line "))).toEqual(final);
  emulator.dispose();
});

/** Whether the letters of a text stand in another one in their order. */
function isPartOf(text: string, whole: string): boolean {
  let at = 0;
  for (const letter of whole) if (letter === text[at]) at++;
  return at === text.length;
}
