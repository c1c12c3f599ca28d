import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useOwnPrograms } from "./check.ts";
import { runCommand } from "./run-command.ts";

/**
 * `npm run hermetic`: the tests on a machine that would lead them astray. Model servers answer at the ports
 * where local ones are looked for, and the environment is full of keys, addresses, settings and a home of
 * somebody else. Fails when a test does, or when a server was asked. Words on the command line go to vitest.
 */
const PORTS = [11_434, 1_234, 8_080, 8_000];
const MODELS = JSON.stringify({ data: [{ id: "foreign" }], models: [{ name: "foreign" }] });

useOwnPrograms();
const asked: string[] = [];
const servers = await Promise.all(PORTS.map(startServer));
const home = poisonedHome();
Object.assign(process.env, {
  HOME: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_STATE_HOME: join(home, ".local/state"),
  ANTHROPIC_API_KEY: "sk-ant-foreign-0123456789abcdef",
  OPENAI_API_KEY: "sk-foreign-0123456789abcdef",
  OPENAI_BASE_URL: `http://127.0.0.1:${PORTS[0]}/v1`,
  LLAMACPP_BASE_URL: `http://127.0.0.1:${PORTS[2]}`,
  NANO_AGENT_MODEL: "openai/foreign",
  NANO_AGENT_MAX_RETRIES: "9",
  HTTP_PROXY: `http://127.0.0.1:${PORTS[0]}`,
  GIT_CONFIG_GLOBAL: join(home, ".gitconfig"),
  RIPGREP_CONFIG_PATH: join(home, ".ripgreprc"),
});
const { ok } = await runCommand(["vitest", "run", ...process.argv.slice(2)], { show: true });
for (const server of servers) server?.close();
rmSync(home, { recursive: true, force: true });
console.log(
  `${asked.length} requests to foreign servers${asked.length === 0 ? "" : `: ${asked.slice(0, 5).join(", ")}`}`,
);
process.exitCode = ok && asked.length === 0 ? 0 : 1;

/** Undefined where somebody else listens already, who serves as well. */
async function startServer(port: number): Promise<ReturnType<typeof createServer> | undefined> {
  const server = createServer((request, response) => {
    asked.push(`${port}${request.url ?? ""}`);
    response.setHeader("content-type", "application/json").end(MODELS);
  });
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  } catch (error) {
    console.log(`port ${port} is taken: ${String(error)}`);
    return undefined;
  }
}

/** A home whose settings break what reads them. */
function poisonedHome(): string {
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-foreign-"));
  mkdirSync(join(folder, ".config/nano-agent"), { recursive: true });
  writeFileSync(join(folder, ".config/nano-agent/config.json"), '{ "model": 7 }');
  writeFileSync(join(folder, ".gitconfig"), "[core]\n\tautocrlf = true\n[init]\n\tdefaultBranch = foreign\n");
  writeFileSync(join(folder, ".ripgreprc"), "--invert-match\n");
  writeFileSync(join(folder, "AGENTS.md"), "foreign");
  return folder;
}
