import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { PlaceholderClaims } from "./placeholder-claims.ts";
import { Placeholders } from "./placeholders.ts";

const SCRIPT = `
const [folder, path] = process.argv.slice(1);
const { PlaceholderClaims } = await import(${JSON.stringify(join(import.meta.dirname, "placeholder-claims.ts"))});
const { Placeholders } = await import(${JSON.stringify(join(import.meta.dirname, "placeholders.ts"))});
const remove = new Placeholders().put([{ path, content: "." }], { claims: new PlaceholderClaims(folder) });
process.stdout.write("put");
process.stdin.once("data", () => { remove(); process.exit(0); });
`;

/** Another process that has put a placeholder. */
async function otherProcess(folder: string, path: string) {
  const words = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", SCRIPT, folder, path];
  const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const ended = once(child, "exit");
  return {
    leave: async () => {
      child.stdin.write("x");
      await ended;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

test("a placeholder stays while a command of another process needs it, and who leaves last removes it", async () => {
  const [folder, path] = [tempFolder(), join(tempFolder(), "file")];
  const other = await otherProcess(folder, path);
  const claims = new PlaceholderClaims(folder);
  // Once it was seen to be there, once it came in between.
  const seen = new Placeholders().put([], { there: [path], claims });
  const unseen = new Placeholders().put([{ path, content: "." }], { claims });
  const states = [existsSync(path)];
  await other.leave();
  states.push(existsSync(path));
  seen();
  states.push(existsSync(path));
  unseen();
  expect([states, existsSync(path), readdirSync(folder)]).toEqual([[true, true, true], false, []]);
});

test("what is no placeholder is nobody's, and a process that died needs nothing", async () => {
  const [folder, place] = [tempFolder(), tempFolder({ own: "." })];
  const path = join(place, "file");
  const claims = new PlaceholderClaims(folder);
  new Placeholders().put([{ path: join(place, "own"), content: "." }], { there: [place], claims })();
  const other = await otherProcess(folder, path);
  const remove = new Placeholders().put([], { there: [path], claims });
  await other.kill();
  remove();
  expect([readdirSync(place), readdirSync(folder)]).toEqual([["own"], []]);
});

test("a removal that was cut by the death of its process holds nobody up", () => {
  const [folder, path] = [tempFolder(), join(tempFolder(), "file")];
  const claims = new PlaceholderClaims(folder);
  const first = new Placeholders().put([{ path, content: "." }], { claims });
  const [name = ""] = readdirSync(folder);
  writeFileSync(join(folder, `${name}.removing`), "999999999");
  mkdirSync(join(folder, "odd"));
  first();
  expect([existsSync(path), readdirSync(folder)]).toEqual([false, ["odd"]]);
});
