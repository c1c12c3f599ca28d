import { lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Deed, undoRoom } from "./undo-room.ts";

const NAMES = ["a", "b", "d/a", "d/e/b", "d", "x y", "ü", "$'\\xff'"];
const TRIALS = Number(process.env["NANO_AGENT_TRIALS"] ?? 12);

const quoted = (name: string): string => (name.startsWith("$'") ? name : `'${name}'`);
const name = fc.constantFrom(...NAMES);
const text = fc.constantFrom(
  "",
  "one\n",
  "two\n",
  "\u0000\u0001",
  "a much longer text than all the others\n",
);

/** Commands that may fail, as commands do. */
const command = fc.oneof(
  fc
    .tuple(name, text)
    .map(
      ([path, content]) =>
        `mkdir -p "$(dirname ${quoted(path)})"; printf %s '${content.replaceAll("\0", "")}' > ${quoted(path)}`,
    ),
  name.map((path) => `rm -rf ${quoted(path)}`),
  name.map((path) => `mkdir -p ${quoted(path)}`),
  fc.tuple(name, name).map(([from, to]) => `mv ${quoted(from)} ${quoted(to)}`),
  fc.tuple(name, name).map(([from, to]) => `ln -sfn ${quoted(from)} ${quoted(to)}`),
  fc
    .tuple(name, fc.constantFrom("600", "755", "444"))
    // Nobody but root looks into a folder of mode 600.
    .map(
      ([path, mode]) => `[ -L ${quoted(path)} ] || [ -d ${quoted(path)} ] || chmod ${mode} ${quoted(path)}`,
    ),
  fc.tuple(name, name).map(([from, to]) => `cp -rT ${quoted(from)} ${quoted(to)}`),
);

const script = fc
  .array(command, { minLength: 1, maxLength: 4 })
  .map((lines) => `{ ${lines.join("; ")}; } 2> /dev/null; true`);

const put = fc.tuple(fc.constantFrom("a", "b", "f/g/h", "ü"), text).map(
  ([path, content]): Deed => ({
    path,
    act: (full) => {
      mkdirSync(dirname(full), { recursive: true });
      const stats = lstatSync(full, { throwIfNoEntry: false });
      // A tool says where links lead, not where they stand.
      if (stats === undefined || stats.isFile()) writeFileSync(full, content);
    },
  }),
);

const run = fc.array(fc.array(fc.oneof(script, script, put), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 2,
});
const START = { a: "start\n", "d/a": "deep\n", "d/e/b": "deeper\n" };

test("after any runs, undo to any of them gives back every byte, and redo too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), fc.nat(), async (runs, pick) => {
      const room = undoRoom(START);
      const trees = [room.tree()];
      for (const turns of runs) {
        await room.run(turns);
        trees.push(room.tree());
      }
      const last = room.tree();
      const to = pick % runs.length;
      const report = await room.undo({ to: { run: to + 1, turn: 0 } });
      expect([report.left, report.failed]).toEqual([[], []]);
      expect(room.tree()).toEqual(trees[to]);
      if (report.status === "nothing") return;
      expect(await room.redo()).toMatchObject({ left: [], failed: [] });
      expect(room.tree()).toEqual(last);
    }),
    { numRuns: TRIALS },
  );
});

test("whatever a person changes between and after runs is there as long as nobody forces it away, and comes back with redo", async () => {
  const edits = fc.array(fc.constantFrom("a", "b", "d/a", "mine"), { maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(run, edits), { minLength: 1, maxLength: 3 }), async (steps) => {
      const room = undoRoom(START);
      const written = new Map<string, string>();
      for (const [turns, made] of steps) {
        await room.run(turns);
        for (const path of made) {
          const full = join(room.root, path);
          if (lstatSync(dirname(full), { throwIfNoEntry: false })?.isDirectory() !== true) continue;
          const stats = lstatSync(full, { throwIfNoEntry: false });
          if (stats !== undefined && !stats.isFile()) continue;
          const content = `written by a person, ${written.size}\n`;
          rmSync(full, { force: true });
          writeFileSync(full, content, { mode: 0o644 });
          written.set(`${path}: file 644 ${content}`, path);
        }
      }
      const before = room.tree();
      const report = await room.undo({ to: { run: 1, turn: 0 } });
      const after = room.tree();
      if (report.status === "refused") expect(after).toEqual(before);
      const mine = Object.entries(before).filter(([path, entry]) => written.has(`${path}: ${String(entry)}`));
      for (const [path, entry] of mine) expect([path, after[path]]).toEqual([path, entry]);
      const forced = await room.undo({ to: { run: 1, turn: 0 }, force: true });
      if (forced.status !== "done") return;
      await room.redo();
      for (const [path, entry] of mine) expect([path, room.tree()[path]]).toEqual([path, entry]);
    }),
    { numRuns: TRIALS },
  );
});

test("however little time there is to read, undo gives back what it does not name", async () => {
  const runs = fc.array(run, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(runs, fc.nat({ max: 12 }), async (all, maxWaitMs) => {
      const room = undoRoom(START, { maxWaitMs });
      const before = room.tree();
      for (const turns of all) await room.run(turns);
      const report = await room.undo({ to: { run: 1, turn: 0 }, force: true });
      const after = room.tree();
      expect(report.failed.filter(({ isKeptFolder }) => isKeptFolder !== true)).toEqual([]);
      const named = [...report.left, ...report.omitted].map(({ path }) => path);
      const isNamed = (path: string): boolean =>
        named.some((each) => each === "" || path === each || isBelow(path, each) || isBelow(each, path));
      const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
      for (const path of paths) if (!isNamed(path)) expect([path, after[path]]).toEqual([path, before[path]]);
    }),
    { numRuns: TRIALS },
  );
});

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}
