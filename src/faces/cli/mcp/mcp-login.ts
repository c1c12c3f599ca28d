import { spawn } from "node:child_process";
import { loginStore, removeLogin } from "../../../coding/mcp/login-store.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { systemClock } from "../../../core/base/async.ts";
import { errorMessage, misuse } from "../../../core/base/errors.ts";
import type { HttpServer, McpServerDefinition } from "../../../extensions/mcp/server-definition.ts";
import { networkOptions } from "../../../providers/network-options.ts";
import { type Environment, variable } from "../../../system/env.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { type CommandContext, say } from "../command-context.ts";
import { EndingSignals } from "../ending-signals.ts";

/** `nano-agent mcp login NAME`: sends the person to the login page and keeps the tokens that come of it. */
export async function mcpLogin(
  context: CommandContext,
  { paths, config }: Settings,
  server: McpServerDefinition,
): Promise<number> {
  const { stdout, stderr, environment } = context;
  const address = atAddress(server);
  using signals = new EndingSignals();
  signals.allowGrace();
  const { logIn, proxiedFetch } = await import("../../../coding/mcp/mcp-client.ts");
  try {
    await logIn(address, {
      store: loginStore(address, paths),
      clock: systemClock,
      fetch: proxiedFetch(networkOptions(config.values.network, environment).proxy),
      signal: signals.signal,
      show: (page) => {
        stderr.write(`Log in to ${server.name} on this page:\n${page.href}\n`);
        openPage(page, environment);
      },
    });
    stdout.write(`Logged in to ${server.name}.\n`);
    return EXIT.done;
  } catch (error) {
    say(context, `${server.name}: ${errorMessage(error)}`);
    return signals.signal.aborted ? EXIT.interrupted : EXIT.credentials;
  }
}

/** `nano-agent mcp logout NAME`: forgets the tokens. */
export function mcpLogout(
  { stdout }: CommandContext,
  { paths }: Settings,
  server: McpServerDefinition,
): number {
  const isGone = removeLogin(atAddress(server), paths);
  stdout.write(isGone ? `Logged out of ${server.name}.\n` : `Nobody was logged in to ${server.name}.\n`);
  return EXIT.done;
}

function atAddress(server: McpServerDefinition): HttpServer {
  if (server.type !== "stdio") return server;
  throw misuse(`The server ${server.name} is a program of this machine: there is nothing to log in to.`);
}

/** Opens a page where there is a browser; its address was said, so that it may fail. */
function openPage(page: URL, environment: Environment): void {
  const { platform } = process;
  const display = variable(environment, "DISPLAY") ?? variable(environment, "WAYLAND_DISPLAY");
  const browser =
    variable(environment, "BROWSER") ??
    (platform === "darwin" ? "open" : platform === "win32" ? "explorer" : display && "xdg-open");
  if (browser === undefined) return;
  const child = spawn(browser, [page.href], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
