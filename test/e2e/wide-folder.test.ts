import { expect, test } from "vitest";
import { says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

test("in the home folder, and in every folder around it, a run says how much that is; in a project it does not", async () => {
  const server = await modelServer([says("one"), says("two"), says("three")]);
  const home = tempFolder({ "project/a.txt": "one\n", "user/.profile": "" });
  const warned = async (cwd: string, HOME: string): Promise<boolean> => {
    const { stderr, code } = await runCommand(["-p", "hello"], { cwd, env: { ...serverEnv(server), HOME } });
    expect(code).toBe(0);
    return stderr.includes(`${cwd} is your home folder or holds it`);
  };
  expect([
    await warned(home, home),
    await warned(home, `${home}/user`),
    await warned(`${home}/project`, home),
  ]).toEqual([true, true, false]);
});
