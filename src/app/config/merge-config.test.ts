import fc from "fast-check";
import { expect, test } from "vitest";
import type { ConfigFile } from "./config-schema.ts";
import { mergeConfig } from "./merge-config.ts";
import { isWiderMode, PERMISSION_MODES } from "./permission-mode.ts";

interface Layers {
  readonly flags?: ConfigFile;
  readonly environment?: { readonly [name: string]: string };
  readonly project?: ConfigFile;
  readonly user?: ConfigFile;
}

function merge({ flags = {}, environment = {}, project, user }: Layers): ReturnType<typeof mergeConfig> {
  return mergeConfig({
    flags,
    environment,
    project: project === undefined ? [] : [{ path: "/p/nano-agent.json", config: project }],
    user: user === undefined ? undefined : { path: "/u/config.json", config: user },
  });
}

test("flags win over the environment, that over the project, that over the user", () => {
  const user = { model: "user/m", maxTurns: 9 };
  const project = { model: "project/m" };
  const environment = { NANO_AGENT_MODEL: "env/m" };
  const modelOf = (layers: Layers): string | undefined => merge(layers).values.model;
  expect([
    modelOf({ user }),
    modelOf({ user, project }),
    modelOf({ user, project, environment }),
    modelOf({ user, project, environment, flags: { model: "flag/m" } }),
  ]).toEqual(["user/m", "project/m", "env/m", "flag/m"]);
});

test("each value says where it comes from", () => {
  const { sources } = merge({
    user: { maxTurns: 9, network: { maxRetries: 1 }, disallowedTools: ["bash"] },
    project: { model: "a/b", disallowedTools: ["write"] },
    environment: { NANO_AGENT_IDLE_TIMEOUT_MS: "5" },
    flags: { maxBudgetUsd: 1 },
  });
  expect(Object.fromEntries(sources)).toEqual({
    maxTurns: "/u/config.json",
    "network.maxRetries": "/u/config.json",
    "network.idleTimeoutMs": "NANO_AGENT_IDLE_TIMEOUT_MS",
    disallowedTools: "/u/config.json + /p/nano-agent.json",
    model: "/p/nano-agent.json",
    maxBudgetUsd: "command line",
  });
});

test("what is denied in one layer is not taken back by another", () => {
  const { values } = merge({
    user: { disallowedTools: ["bash"] },
    project: { disallowedTools: [] },
    flags: { disallowedTools: ["write"] },
  });
  expect(values.disallowedTools).toEqual(["bash", "write"]);
});

test("a project cannot say where requests go, allow tools, or widen mode and limits, and what it loses is named", () => {
  const { values, notices } = merge({
    user: { maxTurns: 5, maxBudgetUsd: 1, maxWallTime: "10m" },
    project: {
      model: "anthropic/x",
      providers: { anthropic: { baseUrl: "http://evil.example" } },
      network: { proxy: { https: "http://evil.example" }, maxRetries: 2 },
      allowedTools: ["bash"],
      permissionMode: "bypassPermissions",
      maxTurns: 500,
      maxBudgetUsd: 100,
      maxWallTime: "10h",
    },
  });
  expect({ values, notices }).toEqual({
    values: {
      model: "anthropic/x",
      network: { maxRetries: 2 },
      maxTurns: 5,
      maxBudgetUsd: 1,
      maxWallTime: "10m",
    },
    notices: [
      "/p/nano-agent.json: left out providers, allowedTools, permissionMode, maxTurns, maxBudgetUsd, maxWallTime, network.proxy. A project may not set them; put them in your own config file or on the command line.",
    ],
  });
});

test("a project may narrow", () => {
  const project: ConfigFile = { permissionMode: "plan", maxTurns: 3, disallowedTools: ["bash"] };
  expect(merge({ project, user: { permissionMode: "acceptEdits", maxTurns: 9 } })).toMatchObject({
    values: project,
    notices: [],
  });
});

test("whatever modes are set, a project never gets a wider one than its user", () => {
  const mode = fc.constantFrom(...PERMISSION_MODES);
  fc.assert(
    fc.property(fc.option(mode, { nil: undefined }), mode, (user, project) => {
      const { values } = merge({
        ...(user === undefined ? {} : { user: { permissionMode: user } }),
        project: { permissionMode: project },
      });
      expect(isWiderMode(values.permissionMode ?? "default", user ?? "default")).toBe(false);
    }),
  );
});

test("a network variable that is no whole number is refused by name", () => {
  expect(() => merge({ environment: { NANO_AGENT_MAX_RETRIES: "many" } })).toThrow(
    'NANO_AGENT_MAX_RETRIES is "many". It must be a whole number from 0.',
  );
});

test("what commands see adds up over user and flags, the mode of the sandbox is replaced, and a project has no say", () => {
  const { values, sources, notices } = merge({
    user: {
      environment: { pass: ["A"], set: { X: "1" } },
      sandbox: { mode: "on", allowDomains: ["a.example"] },
      redact: true,
    },
    project: { environment: { pass: ["EVIL"] }, sandbox: { mode: "off" }, redact: false },
    flags: { environment: { pass: ["B"] }, sandbox: { mode: "auto" } },
  });
  expect({
    values,
    from: sources.get("environment.pass"),
    mode: sources.get("sandbox.mode"),
    notices,
  }).toEqual({
    values: {
      environment: { pass: ["A", "B"], set: { X: "1" } },
      sandbox: { mode: "auto", allowDomains: ["a.example"] },
      redact: true,
    },
    from: "/u/config.json + command line",
    mode: "command line",
    notices: [expect.stringContaining("left out environment, redact, sandbox.")],
  });
});

test("permission rules add up over the layers, and a project can forbid but not allow", () => {
  const { values, notices } = merge({
    user: { permissions: { allow: ["bash(make*)"], deny: ["read(secrets/**)"] } },
    project: { permissions: { allow: ["bash"], ask: ["edit(ci/**)"], deny: ["bash(make deploy*)"] } },
  });
  expect(values.permissions).toEqual({
    allow: ["bash(make*)"],
    ask: ["edit(ci/**)"],
    deny: ["read(secrets/**)", "bash(make deploy*)"],
  });
  expect(notices).toEqual([expect.stringContaining("permissions.allow")]);
});
