// A run that ends when the tests pass, and says what was checked.
//   node examples/41-until.ts [provider/model]
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCodingSession } from "nano-agent/coding-agent";
import { calls, ScriptedModel, says } from "nano-agent/testing";

const cwd = mkdtempSync(join(tmpdir(), "until-"));
writeFileSync(join(cwd, "sum.mjs"), "export const sum = (a, b) => a - b;\n");
const check =
  'import { sum } from "./sum.mjs";\nif (sum(1, 2) !== 3) throw new Error("sum(1, 2) is not 3");\n';
writeFileSync(join(cwd, "sum.test.mjs"), check);

// This model says that it is done, and is told that the tests still fail.
const edits = [{ old_string: "a - b", new_string: "a + b" }];
const script = [
  calls("read", { path: "sum.mjs" }),
  says("Done."),
  calls("edit", { path: "sum.mjs", edits }),
  says("Now it adds."),
];

const named = process.argv[2];
const demo = {
  model: new ScriptedModel(script),
  environment: { HOME: mkdtempSync(join(tmpdir(), "home-")), PATH: process.env["PATH"] },
};
const session = await createCodingSession({
  cwd,
  permissionMode: "acceptEdits",
  ...(named === undefined ? demo : { model: named }),
});
const outcome = await session.send("Make sum add.", { until: "node --test" });
const { changed, checks } = outcome.evidence;
const last = checks.at(-1);
if (last?.exitCode === 0 && last.afterLastChange)
  console.log(`${changed.length} file changed · ${last.command} passed after the last change`);
console.log(`${outcome.stopReason}: exit ${outcome.exitCode}`);
await session.close();
