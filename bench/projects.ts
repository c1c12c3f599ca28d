/**
 * `node bench/projects.ts`: a day's work in a small project of JavaScript, Python and C, done by the built
 * command with a scripted model: how often it asks in `auto` with the sandbox and in `default` without one.
 * With a yes for what asked in `auto` every command has to succeed in the sandbox. Needs the registries of
 * npm and PyPI, gcc, make, python3 and curl.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { calls, says } from "../src/testing/script.ts";
import { startScriptedServer } from "../src/testing/scripted-server.ts";
import { EVERYDAY_LINES, LINES_WITH_CD } from "../test/permission/everyday-lines.ts";
import { policyIn } from "../test/permission/shell-rules.ts";

const BIN = join(import.meta.dirname, "../dist/bin.mjs");
const PORT = 8123;
const NETWORK = { access: "network", reason: "the packages come from the registry" };
const COMMIT =
  "git add -A && git -c user.name=me -c user.email=me@example.com commit -qm first && git log --oneline";
const SERVE_C = `#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  int s = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(${PORT}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const char *page = "HTTP/1.0 200 OK\\r\\n\\r\\nhello\\n";
  if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 8) != 0) return 1;
  for (;;) { int c = accept(s, 0, 0); write(c, page, strlen(page)); close(c); }
}
`;
const ASK = `curl -s --retry 20 --retry-all-errors --retry-delay 1 http://127.0.0.1:${PORT}/`;

interface Project {
  readonly files: Readonly<Record<string, string>>;
  readonly commands: readonly { readonly command: string; readonly [option: string]: unknown }[];
  /** The rules that a yes for the network adds. */
  readonly network: readonly string[];
}

const PROJECTS: Readonly<Record<string, Project>> = {
  JavaScript: {
    files: {
      "package.json": JSON.stringify({
        name: "shop",
        type: "module",
        scripts: { build: "esbuild src/sum.ts --outfile=dist/sum.js", test: "node --test" },
      }),
      ".gitignore": "node_modules\n",
      "src/sum.ts": "export const sum = (a: number, b: number): number => a + b;\n",
      "test/sum.test.js":
        'import test from "node:test"; import assert from "node:assert"; import { sum } from "../dist/sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n',
      "server.js": `import { createServer } from "node:http"; import { sum } from "./dist/sum.js";\ncreateServer((_, answer) => answer.end(String(sum(1, 2)))).listen(${PORT});\n`,
    },
    commands: [
      { command: "git init -q" },
      { command: "npm install --no-audit --no-fund -D esbuild", ...NETWORK },
      { command: "npm run build" },
      { command: "npm test" },
      { command: COMMIT },
      { command: "node server.js", background: true },
      { command: ASK },
    ],
    network: ["bash(npm install*)"],
  },
  Python: {
    files: {
      ".gitignore": ".venv\n__pycache__\n",
      "shop.py": "import six\n\n\ndef total(prices):\n    return sum(six.moves.map(int, prices))\n",
      "test_shop.py":
        "import unittest\n\nfrom shop import total\n\n\nclass Total(unittest.TestCase):\n    def test_sums(self):\n        self.assertEqual(total(['1', '2']), 3)\n",
    },
    commands: [
      { command: "git init -q" },
      { command: "python3 -m venv .venv" },
      { command: ".venv/bin/pip install -q six", ...NETWORK },
      { command: ".venv/bin/python -m compileall -q shop.py" },
      { command: ".venv/bin/python -m unittest -q" },
      { command: COMMIT },
      { command: `python3 -m http.server ${PORT} --bind 127.0.0.1`, background: true },
      { command: ASK },
    ],
    network: ["bash(.venv/bin/pip install*)"],
  },
  C: {
    files: {
      Makefile: "server: server.c\n\tcc -O2 -Wall -o server server.c\ntest: server\n\ttest -x server\n",
      ".gitignore": "server\n",
      "server.c": SERVE_C,
    },
    commands: [
      { command: "git init -q" },
      { command: "make" },
      { command: "make test" },
      { command: COMMIT },
      { command: "./server", background: true },
      { command: ASK },
    ],
    network: [],
  },
};

/** The results of the commands, in order. */
async function work(project: Project, options: readonly string[]): Promise<readonly string[]> {
  const home = mkdtempSync(join(homedir(), ".nano-agent-bench-"));
  const cwd = join(home, "shop");
  for (const [name, content] of Object.entries(project.files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  const server = await startScriptedServer([
    ...project.commands.map((input) => calls("bash", input)),
    says("done"),
  ]);
  try {
    const model = {
      NANO_AGENT_MODEL: "openai/gpt-5",
      OPENAI_API_KEY: "sk-bench",
      OPENAI_BASE_URL: `${server.url}/v1`,
    };
    const env = { ...process.env, ...model, HOME: home };
    const child = spawn(process.execPath, [BIN, "-p", ...options, "go"], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    await once(child, "close");
    const messages = (server.requests.at(-1)?.body as { readonly messages?: readonly ToolMessage[] })
      ?.messages;
    const results = (messages ?? []).filter(({ role }) => role === "tool").map(({ content }) => content);
    if (results.length !== project.commands.length) throw new Error((await said).join("\n"));
    return results.map((result) => JSON.stringify(result));
  } finally {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

interface ToolMessage {
  readonly role: string;
  readonly content: unknown;
}

const questions = (results: readonly string[]): number =>
  results.filter((result) => result.includes("was not approved")).length;

async function main(): Promise<void> {
  if (spawnSync("bwrap", ["--version"]).status !== 0) throw new Error("needs bubblewrap");
  console.log(
    "| work | commands | questions in `auto`, sandbox | in `default`, no sandbox |\n|---|--:|--:|--:|",
  );
  const lines = [...EVERYDAY_LINES, ...LINES_WITH_CD];
  const asked = (options: Parameters<typeof policyIn>[1]): number => {
    const policy = policyIn(import.meta.dirname, options);
    return lines.filter((command) => policy.check({ tool: "bash", input: { command } }).decision !== "allow")
      .length;
  };
  console.log(
    `| everyday lines | ${lines.length} | ${asked({ mode: "auto", sandbox: "works" })} | ${asked({})} |`,
  );
  for (const [name, project] of Object.entries(PROJECTS)) {
    const auto = ["--permission-mode", "auto", "--sandbox", "on"];
    const inside = questions(await work(project, auto));
    const outside = questions(await work(project, ["--permission-mode", "default", "--sandbox", "off"]));
    const rules = project.network.length === 0 ? [] : ["--allowed-tools", project.network.join(",")];
    const results = await work(project, [...auto, ...rules]);
    const failed = results.filter((result, at) =>
      project.commands[at]?.["background"] === true
        ? result.includes("was not approved")
        : !result.includes("[exit code 0"),
    );
    if (failed.length > 0) throw new Error(`${name}: ${failed.join("\n")}`);
    console.log(`| ${name} | ${project.commands.length} | ${inside} | ${outside} |`);
  }
}

await main();
