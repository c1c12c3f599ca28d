// The first file of the executable. It is built for Node 12 syntax and imports nothing before it has looked
// at the version, so that an old Node prints advice instead of a syntax error.

declare const NANO_AGENT_VERSION: string;
declare const NANO_AGENT_NODE: string;

const FAILED = 1;
const USAGE_ERROR = 2;

void start(process.argv.slice(2));

async function start(words: readonly string[]): Promise<void> {
  const [word] = words;
  if (words.length === 1 && (word === "--version" || word === "-v")) {
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      // The reader has gone; nothing is lost.
      if (error.code === "EPIPE") return;
      process.exitCode = FAILED;
      process.stderr.write(`nano-agent: standard output: ${error.message}\n`);
    });
    process.stdout.write(`${NANO_AGENT_VERSION}\n`);
    return;
  }
  if (!isAtLeast(process.versions.node, NANO_AGENT_NODE)) {
    process.exitCode = USAGE_ERROR;
    process.stderr.write(
      `nano-agent needs Node ${NANO_AGENT_NODE} or newer, this is Node ${process.versions.node} (${process.execPath}).\n` +
        "Install a newer Node (https://nodejs.org). A clone brings its own: in it,\n" +
        "  npm ci && npm run demo\n" +
        "  node_modules/.bin/node dist/bin.mjs, from any folder with its whole path\n",
    );
    return;
  }
  if (hasRoomForCode()) process.getBuiltinModule("node:module").enableCompileCache();
  const main = "./cli/main.mjs";
  await import(main);
}

/**
 * True if the folder for Node's compile cache exists or can be created. Node itself would retry forever if
 * the temporary folder rejects new ones with ENOENT. Leaves no folder: Node may use none.
 */
function hasRoomForCode(): boolean {
  const { existsSync, mkdirSync, rmdirSync } = process.getBuiltinModule("node:fs");
  const folder = `${process.getBuiltinModule("node:os").tmpdir()}/node-compile-cache`;
  if (existsSync(folder)) return true;
  try {
    mkdirSync(folder);
    rmdirSync(folder);
    return true;
  } catch {
    // Another process may have created it at the same moment.
    return existsSync(folder);
  }
}

function isAtLeast(found: string, wanted: string): boolean {
  const [foundMajor = 0, foundMinor = 0] = found.split(".").map(Number);
  const [major = 0, minor = 0] = wanted.split(".").map(Number);
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}
