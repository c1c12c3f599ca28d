import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/**
 * What tests may know of the machine: where programs and temporary files are, how text is shown, how much of
 * themselves to run, and whose certificates npm needs behind a proxy of a company.
 */
const KEPT =
  /^(?:PATH|TMPDIR|TMP|TEMP|TZ|LANG|LC_\w+|TERM|CI|FORCE_COLOR|NO_COLOR|NODE_ENV|VITEST\w*|NANO_AGENT_(?:TRIALS|FAULTS|SEED|GOLDEN)|NODE_EXTRA_CA_CERTS|SystemRoot|PATHEXT|ComSpec)$/;
/** A port that nobody can listen on without being root, and nobody does. */
const NOWHERE = "http://127.0.0.1:1";

/** Addresses of local model servers at which there is none: those of the machine are not found. */
export const NO_LOCAL_SERVERS: Readonly<Record<string, string>> = Object.fromEntries(
  ["OLLAMA", "LMSTUDIO", "LLAMACPP", "VLLM"].map((name) => [`${name}_BASE_URL`, NOWHERE]),
);

/**
 * Runs once, before the tests and before the processes they run in: takes out of the environment all that is
 * the machine's or the user's (keys, addresses, settings, proxies) and puts an empty home in the place of
 * theirs. npm alone goes on with its settings and its cache: tests install the packed package.
 */
export function setup(): () => void {
  const theirs = homedir();
  const settings = process.env["npm_config_userconfig"] ?? join(theirs, ".npmrc");
  const cache = process.env["npm_config_cache"] ?? join(theirs, ".npm");
  for (const name of Object.keys(process.env)) if (!KEPT.test(name)) delete process.env[name];
  const home = mkdtempSync(join(tmpdir(), "nano-agent-home-"));
  Object.assign(process.env, NO_LOCAL_SERVERS, {
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    npm_config_cache: cache,
    ...(existsSync(settings) ? { npm_config_userconfig: settings } : {}),
  });
  return () => rmSync(home, { recursive: true, force: true });
}
