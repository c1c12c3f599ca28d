import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, TEST_KEY } from "./command.ts";
import { sessionPlace } from "./session-place.ts";

const TOKEN = "Zk3-Deploy+Token/value_9876543210";

function userConfig(config: object): string {
  const folder = tempFolder();
  mkdirSync(join(folder, "nano-agent"));
  writeFileSync(join(folder, "nano-agent", "config.json"), JSON.stringify(config));
  return folder;
}

test("commands see no key of the environment, and a result says how to pass a variable", async () => {
  const server = await modelServer([calls("bash", { command: 'env; echo "[$DEPLOY_TOKEN]"' }), says("done")]);
  const env = { ...serverEnv(server), DEPLOY_TOKEN: TOKEN, MY_SETTING: "blue", LC_ALL: "C" };
  const { code } = await runCommand(["-p", "--yolo", "go"], { env });
  const sent = JSON.stringify(server.requests.at(-1)?.body);
  expect({
    code,
    passes: sent.includes("LC_ALL=C"),
    leaks: [TEST_KEY, TOKEN, "MY_SETTING=blue", "DEPLOY_TOKEN=", "«redacted"].filter((text) =>
      sent.includes(text),
    ),
    explains: sent.includes(
      "DEPLOY_TOKEN is not passed to commands. The user can allow it: --pass-env DEPLOY_TOKEN",
    ),
  }).toEqual({ code: 0, passes: true, leaks: [], explains: true });
});

test("a key that is printed reaches neither the model, the session, the output nor the error stream", async () => {
  const place = sessionPlace({ ".env": `DEPLOY_TOKEN=${TOKEN}\nMODE=a\n` });
  const commands = [
    'printf "%s\\n" "$DEPLOY_TOKEN"; echo failed "$DEPLOY_TOKEN" >&2; exit 1',
    'printf %s "$DEPLOY_TOKEN" | base64',
    "cat .env",
  ];
  const server = await modelServer([...commands.map((command) => calls("bash", { command })), says("done")]);
  const state = tempFolder();
  const env = { ...serverEnv(server), DEPLOY_TOKEN: TOKEN, XDG_STATE_HOME: state };
  const args = ["-p", "--json", "--include-partial-messages", "--yolo", "--pass-env", "DEPLOY_TOKEN", "go"];
  const end = await runCommand(args, { env, cwd: place.cwd });
  const { stdout } = await runCommand(["sessions", "show", "--json"], { env, cwd: place.cwd });
  const texts = [end.stdout, end.stderr, stdout, JSON.stringify(server.requests.map(({ body }) => body))];
  for (const text of texts) {
    for (let at = 0; at + 16 <= TOKEN.length; at += 4) expect(text).not.toContain(TOKEN.slice(at, at + 16));
    expect(text).not.toContain(Buffer.from(TOKEN).toString("base64").slice(4, 24));
  }
  expect(end.code).toBe(0);
  expect(end.stdout).toContain("failed «redacted:DEPLOY_TOKEN»");
});

test("what the user typed stays in the session and is taken out of an export", async () => {
  const place = sessionPlace();
  const server = await modelServer([says("fine")]);
  const token = `ghp_${"a1B2c3D4".repeat(5)}`;
  await place.run(["-p", `use ${token}`], server);
  const [file = ""] = place.files();
  const exported = [
    await place.run(["sessions", "export"], server),
    await place.run(["sessions", "export", "--json"], server),
  ];
  expect({
    kept: readFileSync(file, "utf8").includes(token),
    exported: exported.map(({ stdout }) => [
      stdout.includes(token),
      stdout.includes("use «redacted:github-token»"),
    ]),
  }).toEqual({
    kept: true,
    exported: [
      [false, true],
      [false, true],
    ],
  });
});

test("redact: false and environment count in the user's own file, and are left out of a project's", async () => {
  const command = 'echo "$DEPLOY_TOKEN $MODE"';
  const config = { redact: false, environment: { pass: ["DEPLOY_TOKEN"], set: { MODE: "test" } } };
  const outputs: string[] = [];
  for (const [user, project] of [
    [config, undefined],
    [undefined, config],
  ]) {
    const server = await modelServer([calls("bash", { command }), says("done")]);
    const cwd = tempFolder(project === undefined ? {} : { "nano-agent.json": JSON.stringify(project) });
    const env = {
      ...serverEnv(server),
      DEPLOY_TOKEN: TOKEN,
      ...(user === undefined ? {} : { XDG_CONFIG_HOME: userConfig(user) }),
    };
    const { stderr } = await runCommand(["-p", "--yolo", "go"], { env, cwd });
    const shown = JSON.stringify(server.requests.at(-1)?.body).includes(`${TOKEN} test`);
    outputs.push(`${shown} ${stderr.includes("left out environment, redact.")}`);
  }
  expect(outputs).toEqual(["true false", "false true"]);
});

test("doctor names the variables that commands do not get, and never their values", async () => {
  const { stdout } = await runCommand(["doctor"], { env: { DEPLOY_TOKEN: TOKEN } });
  expect(stdout).toMatch(/Commands: see \d+ variables\. Not passed: .*DEPLOY_TOKEN/);
  expect(stdout).not.toContain(TOKEN);
});
