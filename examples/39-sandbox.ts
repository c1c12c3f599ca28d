// Commands in a sandbox of the operating system: they write in one folder, without network and keys.
//   node examples/39-sandbox.ts [provider/model]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "nano-agent";
import { openSandbox } from "nano-agent/permission";
import { calls, ScriptedModel, says } from "nano-agent/testing";
import { createBashTools } from "nano-agent/tools";

const cwd = await mkdtemp(join(tmpdir(), "nano-agent-example-"));
// Linux with bubblewrap, or macOS. It has proved that it holds, or says in one line what to do.
const opened = await openSandbox({ workspace: [cwd], stateFolder: `${cwd}-state` });
if ("problem" in opened) console.log(opened.problem);
const sandbox = "sandbox" in opened ? opened.sandbox : undefined;
const shell = createBashTools({ sandbox });

const script = [calls("bash", { command: "echo made > inside.txt && cat inside.txt" }), says("Done.")];
const model = process.argv[2] ?? new ScriptedModel(script);
const agent = new Agent({ model, tools: shell.tools, cwd });
try {
  console.log((await agent.runOrThrow("Make a file.")).text);
} finally {
  await shell.dispose();
  await sandbox?.dispose();
  await rm(cwd, { recursive: true });
  await rm(`${cwd}-state`, { recursive: true, force: true });
}
