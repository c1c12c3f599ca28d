import { join } from "node:path";
import { expect, test } from "vitest";
import { SqliteLongTermMemory } from "../../src/memory/sqlite-long-term-memory.ts";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { lastMessages } from "./session-place.ts";

const BOTH = '{ "memory": { "longTerm": "both" } }';

function user(config: string, project: string = "{}") {
  const env = {
    XDG_CONFIG_HOME: tempFolder({ "nano-agent/config.json": config }),
    XDG_STATE_HOME: tempFolder(),
  };
  return { env, cwd: tempFolder({ "nano-agent.json": project }) };
}

test("what one session was told the next one knows, and the user can look at it and have it forgotten", async () => {
  const place = user(BOTH);
  const first = await modelServer([
    calls("record_to_memory", { thinking: "lasting", content: ["用户喜欢深色模式"] }),
    says("Noted."),
  ]);
  const told = await runCommand(["-p", "I like 深色模式"], {
    ...place,
    env: { ...place.env, ...serverEnv(first) },
  });
  const second = await modelServer([says("Dark.")]);
  const asked = await runCommand(["-p", "which 模式 for the page?"], {
    ...place,
    env: { ...place.env, ...serverEnv(second) },
  });
  expect([told.code, told.stderr, asked.code, asked.stderr]).toEqual([0, "", 0, ""]);
  expect(lastMessages(second)[0]).toMatch(/<long_term_memory>[\s\S]*用户喜欢深色模式/);
  const search = await runCommand(["memory", "search", "深色", "--json"], place);
  const rows = JSON.parse(search.stdout) as readonly { readonly id: string; readonly text: string }[];
  const found = rows.find(({ text }) => text === "用户喜欢深色模式");
  const forgotten = await runCommand(["memory", "forget", found?.id ?? ""], place);
  const list = await runCommand(["memory", "list"], place);
  expect([forgotten.stdout, list.stdout.split("\n").length, list.stdout.includes("Q: I like")]).toEqual([
    "Forgot 1 of 1.\n",
    3,
    true,
  ]);
});

test("nothing is remembered unless the user says so: not by default, for a project, or without a session", async () => {
  for (const [config, project, flags] of [
    ["{}", "{}", []],
    ["{}", BOTH, []],
    [BOTH, "{}", ["--no-session"]],
  ] as const) {
    const place = user(config, project);
    const server = await modelServer([says("ok")]);
    await runCommand(["-p", ...flags, "remember me"], {
      ...place,
      env: { ...place.env, ...serverEnv(server) },
    });
    const store = new SqliteLongTermMemory({
      path: join(place.env.XDG_STATE_HOME, "nano-agent", "memory.db"),
    });
    expect([JSON.stringify(server.requests).includes("record_to_memory"), await store.count()]).toEqual([
      false,
      0,
    ]);
    store.close();
  }
});

test("a memory of a newer version costs a warning and not the run; looking at it says why", async () => {
  const place = user(BOTH);
  const path = join(place.env.XDG_STATE_HOME, "nano-agent", "memory.db");
  const store = new SqliteLongTermMemory({ path });
  await store.record(["fact"]);
  store.close();
  const { DatabaseSync } = await import("node:sqlite");
  const newer = new DatabaseSync(path);
  newer.exec("PRAGMA user_version = 9; PRAGMA wal_checkpoint(TRUNCATE)");
  newer.close();
  const server = await modelServer([says("Still here.")]);
  const run = await runCommand(["-p", "fact?"], { ...place, env: { ...place.env, ...serverEnv(server) } });
  expect([run.code, run.stdout, run.stderr.includes("version 9")]).toEqual([0, "Still here.\n", true]);
  const list = await runCommand(["memory", "list"], place);
  expect([list.code === 0, list.stderr.includes("version 9")]).toEqual([false, true]);
  const wrong = await runCommand(["memory", "remember", "x"], place);
  expect([wrong.code, wrong.stderr.includes("Write nano-agent memory list|search|forget")]).toEqual([
    2,
    true,
  ]);
});
