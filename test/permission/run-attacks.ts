import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "../../src/core/message/message.ts";
import { openSandbox } from "../../src/permission/sandbox/open-sandbox.ts";
import { createBashTools } from "../../src/tools/bash-tools.ts";
import type { ShellOptions } from "../../src/tools/shell/shell-session.ts";
import { ATTACKS, type Attack, prepareHome } from "./sandbox-attacks.ts";

/**
 * Runs the attacks on the sandbox as the user who starts it: `node run-attacks.ts [outside]`. Prints which
 * ones succeeded, as JSON; with `outside` nothing confines them, and those run that do no harm.
 */

const isOutside = process.argv[2] === "outside";
const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

async function attempt(attack: Attack): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), "nano-agent-attack-"));
  const [workspace, home] = [mkdtempSync(join(root, "ws-")), mkdtempSync(join(root, "home-"))];
  prepareHome(home);
  attack.prepare?.(workspace, home);
  const env = { PATH, HOME: home };
  const options = { workspace: [workspace], home, environment: env, protect: ["own/settings"] };
  const opened = isOutside ? undefined : await openSandbox(options);
  if (opened !== undefined && "problem" in opened) throw new Error(opened.problem);
  const servers: Server[] = [];
  let reached = 0;
  const listen = (where: number | string): Promise<Server> =>
    new Promise((resolve) => {
      const server = createServer(() => reached++);
      servers.push(server.listen(where, () => resolve(server)));
    });
  const abstract = `nano-agent-${process.pid}`;
  const socket = join(home, "s");
  const address = (await listen(0)).address();
  await listen(socket);
  await listen(`\0${abstract}`);
  const placement: ShellOptions["placement"] = (input) => ({
    runs: "access" in input ? "network" : "inside",
    readOnly: "plan" in input,
  });
  const tools = createBashTools({ env, ...(opened && { sandbox: opened.sandbox, placement }) });
  try {
    return await attack.run({
      workspace,
      home,
      host: { port: typeof address === "object" ? (address?.port ?? 0) : 0, abstract, socket },
      reached: () => reached,
      bash: async (command, input = {}) => {
        const context = { signal: new AbortController().signal, cwd: workspace, update: () => undefined };
        const result = await tools.bash.execute?.({ command, ...input } as never, context as never);
        const { content } = result as { readonly content: Parameters<typeof textOf>[0] };
        if (process.env["SHOW"] !== undefined) process.stderr.write(`${textOf(content)}\n`);
        return textOf(content);
      },
    });
  } finally {
    await tools.dispose();
    await opened?.sandbox.dispose();
    for (const server of servers) server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const succeeded: string[] = [];
const only = process.env["ONLY"] ?? "";
const chosen = ATTACKS.filter(
  (attack) => (!isOutside || attack.isControlled === true) && attack.name.includes(only),
);
for (const attack of chosen) if (!(await attempt(attack))) succeeded.push(attack.name);
process.stdout.write(JSON.stringify({ count: chosen.length, succeeded }));
