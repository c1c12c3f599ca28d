import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hiddenCharacter } from "../../src/permission/hidden-characters.ts";
import { parseRule } from "../../src/permission/parse-rule.ts";
import { tempFolder } from "../temp-folder.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

/** A workspace with a folder, a link out of it, and a bare repository that somebody has put there. */
function room(): string {
  const root = tempFolder();
  const work = join(root, "work");
  for (const folder of ["src/deep", ".git/objects", "docs/demo/objects", "docs/demo/refs"])
    mkdirSync(join(work, folder), { recursive: true });
  for (const file of ["../secret.txt", "src/a", "docs/demo/HEAD", ".git/HEAD"])
    writeFileSync(join(work, file), "x\n");
  symlinkSync("../..", join(work, "src/out"));
  symlinkSync("src/deep", join(work, "near"));
  return work;
}

const decisions = (lines: readonly string[], rules = ""): Readonly<Record<string, string>> => {
  const policy = policyIn(room(), { rules: rules === "" ? [] : shellRules(rules) });
  return Object.fromEntries(
    lines.map((command) => [command, policy.check({ tool: "bash", input: { command } }).decision]),
  );
};

const all = (lines: readonly string[], decision: string): Readonly<Record<string, string>> =>
  Object.fromEntries(lines.map((line) => [line, decision]));

test("cd into the workspace is reading, and what stands behind it is judged from there", () => {
  const read = [
    "cd src && ls",
    "cd src && cat a && cd .. && ls",
    "cd src && cat ../.gitignore",
    "cd src/deep && cat ../a",
    "cd -- ./src; cat a",
    "(cd src && ls); cat src/a",
    "cd src && git status",
    "cd nothing || ls",
    "pushd src && ls",
    "if cd src; then cat a; fi",
    "cd near && cat ../a",
    "cat <<< x && cd src && cat < a",
  ];
  expect(decisions(read)).toEqual(all(read, "allow"));
});

test("behind a cd that leads elsewhere, or nobody knows where, everything asks, whatever rules allow", () => {
  const asked = [
    "cd .. && cat secret.txt",
    "cd src/out && cat secret.txt",
    "cd near && cd .. && cat ../secret.txt",
    "cd $x && cat a",
    "cd && cat a",
    "cd - && cat a",
    "cd src* && cat a",
    "popd; cat a",
    "for i in 1 2; do cat a; cd ..; done",
    "while cat a; do cd ..; done",
    "{ cd ..; }; cat secret.txt",
    "CDPATH=/ cd etc; cat passwd",
    "eval 'cd ..'; cat secret.txt",
    "command cd ..; cat secret.txt",
    "true && cd .. ; cat secret.txt",
    "case x in x) cd ..;; esac; cat secret.txt",
    "bash -c 'cd .. && cat secret.txt'",
    "cd .. && bash -c 'cat secret.txt'",
  ];
  const outside = [
    "cd src; cat ../../secret.txt",
    "cd src && cd .. && cat ../secret.txt",
    "cd src || cat ../secret.txt",
    "cd src; cat < ../../secret.txt",
  ];
  expect(decisions(outside)).toEqual(all(outside, "ask"));
  const rules = "cd * ; cd ; cat * ; popd ; eval * ; command * ; CDPATH=* ; bash * ; pushd *";
  expect(decisions(asked)).toEqual(all(asked, "ask"));
  expect(decisions(asked, rules)).toEqual(all(asked, "ask"));
});

test("git is covered from another folder only if it finds the repository of the workspace there", () => {
  expect(decisions(["cd docs && git status", "cd docs/demo && git status", "cd src && git log"])).toEqual({
    "cd docs && git status": "allow",
    "cd docs/demo && git status": "ask",
    "cd src && git log": "allow",
  });
});

test("deny rules for files count from the folder a command runs in", () => {
  const work = room();
  const policy = policyIn(work, { rules: parseRule("read(src/**)", "deny") });
  const check = (command: string): string => policy.check({ tool: "bash", input: { command } }).decision;
  expect(["cd src && cat a", "cd src && cat < a", "cat a", "cd docs && cat a"].map(check)).toEqual([
    "deny",
    "deny",
    "allow",
    "allow",
  ]);
});

test("deny rules see what braces and each value of a loop come to", () => {
  const denied = [
    "git commi{t..t} -m x",
    "git {push,origin}",
    "for c in status push; do git $c; done",
    'for c in status push; do git "$c" origin; done',
    "for c in a b rm d; do $c x; done",
    "for c in {o..s}m; do ${c} x; done",
    "x=ls; x=rm; x=cat; $x y",
  ];
  expect(decisions(denied, "!git push* ; !git commit* ; !rm * ; git * ; x=*")).toEqual(all(denied, "deny"));
});

test("a path that is longer than any is nowhere", () => {
  const work = room();
  const long = `${"./".repeat(20_000)}src/out/secret.txt`;
  const policy = policyIn(work, {
    rules: [...parseRule("read(src/**)", "allow"), ...parseRule("edit(**)", "allow")],
  });
  const check = (tool: string, input: object): string => policy.check({ tool, input }).decision;
  expect([
    check("bash", { command: `cat ${long}` }),
    check("read", { path: long }),
    check("write", { path: long, content: "x" }),
  ]).toEqual(["ask", "ask", "ask"]);
});

test("every character that Unicode wants ignored where it cannot be shown is hidden, but what makes a picture of one", () => {
  const ignored = Array.from({ length: 0x11_0000 }, (_, code) => code).filter(
    (code) => code !== 0xfe0f && /\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(code)),
  );
  const shown = ignored.filter((code) => hiddenCharacter(`ls${String.fromCodePoint(code)}`) === undefined);
  expect({ shown, count: ignored.length > 4_000, known: ignored.includes(0x2065) }).toEqual({
    shown: [],
    count: true,
    known: true,
  });
});
