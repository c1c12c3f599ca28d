import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";

test("--verbose says on standard error what happens, without secrets, and the answer stays alone on standard output", async () => {
  const server = await modelServer([calls("read", { path: "key.txt" }), says("done")]);
  const { code, stdout, stderr } = await runCommand(["-p", "--verbose", "--yolo", "go"], {
    env: serverEnv(server),
    cwd: tempFolder({ "key.txt": `token ghp_${"a1B2".repeat(9)}\n` }),
  });
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => line.replace(/^\+\d+\.\d{3}s /, ""));
  expect([code, stdout, lines.map((line) => line.slice(0, line.indexOf("]") + 1))]).toEqual([
    0,
    "done\n",
    ["[run]", "[model]", "[model]", "[tool]", "[tool]", "[model]", "[model]", "[run]"],
  ]);
  expect(stderr).not.toContain("ghp_a1B2");
});

/** A module that registers a provider of traces, which says at its flush what spans there were. */
function tracing(): string {
  const setup = join(tempFolder({}), "otel.mjs");
  const { resolve } = createRequire(import.meta.url);
  writeFileSync(
    setup,
    `import api from ${JSON.stringify(resolve("@opentelemetry/api"))};
     import sdk from ${JSON.stringify(resolve("@opentelemetry/sdk-trace-base"))};
     const held = [];
     api.trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors: [{
       onStart() {}, onEnd(span) { held.push(span.name); }, async shutdown() {},
       async forceFlush() { process.stderr.write("spans: " + held.join(", ") + "\\n"); },
     }] }));`,
  );
  return setup;
}

test.each([
  ["a run without a screen", []],
  ["a run of a program that opened a session", [process.execPath, "--input-type=module", "-e"]],
])(
  "%s is told to the OpenTelemetry providers of the process when the user's configuration says so",
  async (_, node) => {
    const server = await modelServer([says("done")]);
    const library = JSON.stringify(join(import.meta.dirname, "../../dist/lib/coding-agent/index.js"));
    const program = `import { createCodingSession } from ${library};
    const session = await createCodingSession({ keep: false });
    await session.send("go");
    await session.close();`;
    const { code, stderr } = await runCommand(["-p", "go"], {
      env: {
        ...serverEnv(server),
        XDG_CONFIG_HOME: tempFolder({ "nano-agent/config.json": '{ "openTelemetry": {} }' }),
        NODE_OPTIONS: `--import ${tracing()}`,
        PROGRAM: program,
      },
      cwd: tempFolder({}),
      ...(node.length === 0 ? {} : { shell: `exec ${node.join(" ")} "$PROGRAM"` }),
    });
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^spans: chat \S+, invoke_agent nano-agent\n$/) as unknown,
    ]);
  },
);

test("a project cannot have its runs told to anybody", async () => {
  const server = await modelServer([says("done")]);
  const { code, stderr } = await runCommand(["-p", "go"], {
    env: serverEnv(server),
    cwd: tempFolder({ "nano-agent.json": '{ "openTelemetry": { "captureContent": true } }' }),
  });
  expect([code, stderr.includes("left out openTelemetry")]).toEqual([0, true]);
});
