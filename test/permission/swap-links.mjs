// Swaps what stands at a path as fast as it can, until its input ends: node swap-links.mjs WORKSPACE OUTSIDE
import { existsSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const [workspace = "", outside = ""] = process.argv.slice(2);
const at = (name) => join(workspace, name);
let ended = false;
process.stdin.on("end", () => {
  ended = true;
});
process.stdin.resume();

/** `link` leads inside, then outside; `folder` is a folder, then a link that leads outside. */
function swap() {
  for (let round = 0; round < 200; round++) {
    for (const target of [at("real"), outside]) {
      symlinkSync(target, at("next"));
      renameSync(at("next"), at("link"));
    }
    try {
      renameSync(at("folder"), at("away"));
      symlinkSync(outside, at("folder"));
      unlinkSync(at("folder"));
      renameSync(at("away"), at("folder"));
    } catch {
      // The other side has just made a folder of this name: the one that was taken away comes back.
      recover();
    }
  }
  if (ended) process.exit(0);
  setImmediate(swap);
}

function recover() {
  try {
    if (!existsSync(at("away"))) return;
    rmSync(at("folder"), { recursive: true, force: true });
    renameSync(at("away"), at("folder"));
  } catch {
    // It was made once more; the next round comes back here.
  }
}

process.stdout.write("swapping\n");
swap();
