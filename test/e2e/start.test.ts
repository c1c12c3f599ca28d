import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

const FAULTY_SERVER = join(import.meta.dirname, "../mcp/faulty-stdio.ts");

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

/** Writes what files of the program were loaded when the first request was made, with their sizes. */
const LOOK_AT_REQUEST = `
  import { statSync } from "node:fs";
  import { registerHooks } from "node:module";
  import { subscribe, unsubscribe } from "node:diagnostics_channel";
  const files = [];
  registerHooks({
    load: (url, context, next) => {
      if (url.includes("/dist/")) files.push(new URL(url));
      return next(url, context);
    },
  });
  const tell = () => {
    unsubscribe("http.client.request.start", tell);
    const sized = files.map((url) => [url.pathname.replace(/^.*\\/(.*?)(?:-[\\w-]{8})?\\.mjs$/, "$1"), statSync(url).size]);
    process.stderr.write("loaded: " + JSON.stringify(sized));
  };
  subscribe("http.client.request.start", tell);`;

test("servers whose tools are remembered load one small file before the first request, and nothing of the client", async () => {
  const look = join(tempFolder({ "look.mjs": LOOK_AT_REQUEST }), "look.mjs");
  const server = await modelServer([says("done"), says("done")]);
  const command = { command: process.execPath, args: [FAULTY_SERVER, JSON.stringify({})] };
  const mcpServers = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`s${at}`, command]));
  const homeWith = (settings: object): string =>
    tempFolder({ ".config/nano-agent/config.json": JSON.stringify(settings) });
  const home = homeWith({ mcpServers });
  const listed = await runCommand(["mcp", "list"], { env: { HOME: home } });
  const loaded = async (HOME: string): Promise<ReadonlyMap<string, number>> => {
    const { stderr } = await runCommand(["-p", "--no-session", "go"], {
      env: { ...serverEnv(server), HOME, NODE_OPTIONS: `--import ${look}` },
    });
    return new Map(JSON.parse(/loaded: (\[.*?\]\])/.exec(stderr)?.[1] ?? "[]") as [string, number][]);
  };
  const [without, remembered] = [await loaded(homeWith({})), await loaded(home)];
  const more = [...remembered].filter(([name]) => !without.has(name));
  expect([
    listed.stdout.match(/connected/g)?.length,
    without.has("program"),
    more.map(([name]) => name),
  ]).toEqual([5, true, ["mcp-parts"]]);
  expect(more[0]?.[1]).toBeLessThan(30_000);
});
