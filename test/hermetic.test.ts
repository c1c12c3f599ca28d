import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { expect, test } from "vitest";
import { setup } from "../scripts/hermetic-environment.ts";
import { runCommand } from "./e2e/command.ts";
import { withVariables } from "./hermetic-command.ts";

test("tests see no home, key, address, proxy or setting of the machine", () => {
  const seen = Object.keys(process.env).filter((name) =>
    /_(?:API_KEY|TOKEN|MODEL|PROXY|SECRET|PASSWORD)$|^(?:NANO_AGENT|XDG|AWS|GITHUB|ANTHROPIC|OPENAI|GIT_(?!CONFIG_NOSYSTEM))/i.test(
      name,
    ),
  );
  const allowed = ["NANO_AGENT_TRIALS", "NANO_AGENT_FAULTS", "NANO_AGENT_SEED"];
  const addresses = Object.entries(process.env).filter(([name]) => name.endsWith("_BASE_URL"));
  expect(seen.filter((name) => !allowed.includes(name))).toEqual([]);
  expect(new Set(addresses.map(([, value]) => value))).toEqual(new Set(["http://127.0.0.1:1"]));
  expect(readdirSync(homedir()).filter((name) => !name.startsWith("."))).toEqual([]);
});

test("an environment full of what would lead tests astray is emptied", () => {
  const before = { ...process.env };
  const poison = {
    ANTHROPIC_API_KEY: "sk-poison",
    OPENAI_BASE_URL: "http://127.0.0.1:8080",
    LLAMACPP_BASE_URL: "http://127.0.0.1:8080",
    NANO_AGENT_MODEL: "poison/model",
    XDG_CONFIG_HOME: "/poison",
    HTTPS_PROXY: "http://poison:1",
    NODE_OPTIONS: "--no-warnings",
    GIT_DIR: "/poison",
    HOME: "/poison",
  };
  Object.assign(process.env, poison);
  try {
    const remove = setup();
    const after = { ...process.env };
    remove();
    expect(
      Object.values(after).filter((value) => value !== undefined && /poison|8080|warnings/.test(value)),
    ).toEqual(["/poison/.npm"].filter(() => before["npm_config_cache"] === undefined));
  } finally {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("a command that tests start has a home of its own and finds no server of the machine", async () => {
  const { HOME: home, ...rest } = withVariables({});
  expect({ home: readdirSync(home ?? "/"), rest: Object.keys(rest).toSorted() }).toEqual({
    home: [],
    rest: ["LLAMACPP_BASE_URL", "LMSTUDIO_BASE_URL", "OLLAMA_BASE_URL", "PATH", "VLLM_BASE_URL"],
  });
  expect(await runCommand(["-p", "go"])).toMatchObject({ code: 41, stdout: "" });
});
