import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { treeOf } from "../undo-room.ts";
import { modelServer } from "./command.ts";
import { sessionPlace } from "./session-place.ts";

test("moved, deleted, linked, binary, ignored and empty things come back turn by turn, and go again", async () => {
  const place = sessionPlace({
    "a/b/c.txt": "c\n",
    "a/d.sh": "echo\n",
    ".gitignore": "ign/\n",
    "ign/x.bin": "\0\u0001",
    "é ü.txt": "x",
    "-dash": "y",
  });
  mkdirSync(join(place.cwd, "void/in/void"), { recursive: true });
  chmodSync(join(place.cwd, "a/d.sh"), 0o755);
  writeFileSync(
    join(place.cwd, "bin.dat"),
    Uint8Array.from({ length: 70_000 }, (_, index) => index * 7),
  );
  const first = [
    "mv a moved; rm -rf void ign; chmod -x moved/d.sh; head -c 90000 /dev/urandom > bin.dat; ln bin.dat hard",
    "ln -s moved/d.sh link; ln -sf /etc/hosts moved/b/hosts; mkdir -p e/m/p/t/y",
    "rm -- -dash 'é ü.txt'; mkdir 'é ü.txt'; echo hi > $'new\\nline'",
  ];
  const second = "rm -rf moved link e; mkdir link; echo z > link/z; chmod 600 bin.dat; echo z > void";
  const server = await modelServer([
    calls("bash", { command: first.join("; ") }),
    says("done"),
    calls("bash", { command: second }),
    says("done"),
  ]);
  const trees = [treeOf(place.cwd)];
  for (const args of [["one"], ["-c", "two"]]) {
    expect((await place.run(["-p", "--yolo", ...args], server)).code).toBe(0);
    trees.push(treeOf(place.cwd));
  }
  const steps = [
    ["undo", 1],
    ["undo", 0],
    ["redo", 1],
    ["redo", 2],
  ] as const;
  for (const [step, tree] of steps) {
    expect(await place.run([step])).toMatchObject({ code: 0, stdout: expect.not.stringContaining("Failed") });
    expect(treeOf(place.cwd)).toEqual(trees[tree]);
  }
  expect((await place.run(["undo", "1"])).code).toBe(0);
  expect(treeOf(place.cwd)).toEqual(trees[0]);
});

test("a big file that a call made stays, and what undo says removes it", async () => {
  const place = sessionPlace({ "s.txt": "s" });
  const other = tempFolder();
  const server = await modelServer([
    calls("bash", { command: "head -c 40000000 /dev/zero > made.bin; echo t > s.txt" }),
    calls("write", { path: join(other, "w.txt"), content: "w" }),
    says("done"),
  ]);
  await place.run(["-p", "--yolo", "go"], server);
  const { stdout } = await place.run(["undo"]);
  expect(stdout).toContain("made.bin: not removed, because it is not kept and could not come back; ");
  expect(stdout).toContain("; nano-agent undo 1 --force removes it\n");
  expect((await place.run(["undo", "1", "--force"])).stdout).toContain("made.bin: removed");
  expect(existsSync(join(place.cwd, "made.bin"))).toBe(false);
  expect((await place.run(["undo", "--list"])).stdout).toContain("write: nothing in the workspace\n");
});
