import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type FaultPlan, scriptedAnswers } from "./faulty-server.ts";

/** The scripted server on standard input and output: `node faulty-stdio.ts PLAN`. */
const plan = JSON.parse(process.argv[2] ?? "{}") as FaultPlan;
const answers = scriptedAnswers(plan);

if (plan.stubborn === true) {
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, () => undefined);
  setInterval(() => undefined, 60_000);
  const child = spawn("sh", ["-c", 'trap "" TERM; while :; do sleep 1000; done'], { stdio: "ignore" });
  process.stderr.write(`child ${child.pid}\n`);
}
// A pipe that nobody reads would stop here.
process.stderr.write("chatter\n".repeat(20_000));

createInterface({ input: process.stdin }).on("line", (line) => {
  answers(JSON.parse(line) as Parameters<typeof answers>[0], {
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    text: (text) => void process.stdout.write(`${text}\n`),
    raw: (text) => void process.stdout.write(text),
    die: () => process.exit(7),
  });
});
