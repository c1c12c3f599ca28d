import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

/** Modules of Node that cost milliseconds each, and of which a run that only answers needs none. */
const HEAVY = ["crypto", "https", "tls", "http2", "readline", "child_process", "worker_threads", "zlib"];

test("a run that only answers loads no module of Node that it does not need", async () => {
  const look = join(tempFolder({}), "look.mjs");
  writeFileSync(
    look,
    `process.on("exit", () => {
       const loaded = new Set(process.moduleLoadList);
       const heavy = ${JSON.stringify(HEAVY)}.filter((name) => loaded.has("NativeModule " + name));
       process.stderr.write("loaded: " + heavy.join(", "));
     });`,
  );
  const server = await modelServer([says("done")]);
  const { code, stdout, stderr } = await runCommand(["-p", "go"], {
    env: { ...serverEnv(server), NODE_OPTIONS: `--import ${look}` },
  });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done\n", stderr: "loaded: " });
});
