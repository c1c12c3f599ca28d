/**
 * What a turn costs at least, for `bench/turns.ts`: asks the model, does what it calls, keeps the
 * conversation, and nothing else. `PARTS` says what it does of that beside the request: `records` (two of a
 * turn, on the disk before it goes on), `tools`.
 */
import { spawn } from "node:child_process";
import { fdatasync, openSync, readFileSync, writeSync } from "node:fs";
import { Agent, request } from "node:http";

const parts = (process.env.PARTS ?? "").split(",");
const agent = new Agent({ keepAlive: true });
const journal = openSync("journal", "a");
const messages = [{ role: "user", content: "go" }];
/** As long as the prompt and the tools of the command. */
const rest = "x".repeat(4500);

/** The call of the next answer; undefined at the end. */
function ask() {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent, headers: { "content-type": "application/json" } };
    const sent = request(`${process.env.OPENAI_BASE_URL}/chat/completions`, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => (text += piece));
      response.on("end", () => {
        const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
        const deltas = events.map((event) => JSON.parse(event.slice(6)).choices[0].delta);
        resolve(deltas.find(({ tool_calls }) => tool_calls)?.tool_calls[0]);
      });
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ messages, rest }));
  });
}

function run({ name, arguments: text }) {
  if (!parts.includes("tools")) return "";
  const input = JSON.parse(text);
  if (name === "read") return readFileSync(input.path, "utf8");
  return new Promise((resolve) => {
    const child = spawn("/bin/bash", ["-c", input.command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += bytes));
    child.once("close", () => resolve(output));
  });
}

async function keep(message) {
  messages.push(message);
  if (!parts.includes("records")) return;
  writeSync(journal, `${JSON.stringify(message)}\n`);
  await new Promise((resolve, reject) => {
    fdatasync(journal, (error) => (error === null ? resolve() : reject(error)));
  });
}

for (let call = await ask(); call !== undefined; call = await ask()) {
  await keep({ role: "assistant", tool_calls: [call] });
  await keep({ role: "tool", tool_call_id: call.id, content: await run(call.function) });
}
agent.destroy();
