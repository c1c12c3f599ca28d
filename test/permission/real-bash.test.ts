import fc from "fast-check";
import { expect, test } from "vitest";
import { BAD, commandLines, GOOD } from "./command-grammar.ts";
import { policyIn, shellRules } from "./shell-rules.ts";
import { BASH, openStubRoom } from "./stub-room.ts";

const WRAPPERS = [
  "env",
  "timeout",
  "nice",
  "nohup",
  "xargs",
  "command",
  "exec",
  "bash",
  "sh",
  "eval",
  "time",
  "setsid",
  "find",
];

test.skipIf(BASH === undefined)(
  "whatever runs when real Bash is given a command line that was allowed, an allow rule covers (needs bash)",
  () => {
    const room = openStubRoom([...GOOD, ...BAD]);
    const allowed = [...GOOD.map((name) => `${name}*`), ...WRAPPERS.map((name) => `${name} *`)];
    const policy = policyIn(room.cwd, { rules: shellRules(allowed.join(" ; ")), defaults: false });
    const counts = { allowed: 0, asked: 0, programs: 0 };
    const unsafe: string[] = [];
    // More with NANO_AGENT_TRIALS=20000.
    const numRuns = Number(process.env["NANO_AGENT_TRIALS"] ?? 800);
    for (const command of fc.sample(commandLines, { numRuns, seed: 20_261 })) {
      if (policy.check({ tool: "bash", input: { command } }).decision !== "allow") {
        counts.asked++;
        continue;
      }
      counts.allowed++;
      const { ran, created } = room.run(command);
      counts.programs += ran.length;
      const uncovered = ran.filter(([name = ""]) => !GOOD.includes(name));
      const written = created.filter((name) => name !== "nohup.out");
      if (uncovered.length + written.length > 0)
        unsafe.push(
          `${JSON.stringify(command)} ran ${JSON.stringify(uncovered)}, wrote ${written.join(" ")}`,
        );
    }
    expect(unsafe).toEqual([]);
    expect(counts.allowed).toBeGreaterThan(numRuns / 10);
    expect(counts.programs).toBeGreaterThan(counts.allowed / 2);
  },
);

test.skipIf(BASH === undefined)("the stub room notes what runs, and what is written (needs bash)", () => {
  const room = openStubRoom(["ls", "rm"]);
  const { ran, created } = room.run("rm 'a b' > out; nice ls");
  expect({
    ran: ran.map((words) => words.join(" ")).toSorted((a, b) => a.localeCompare(b)),
    created,
  }).toEqual({ ran: ["ls", "rm a b"], created: ["out"] });
});
