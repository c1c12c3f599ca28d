import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readManifest } from "../../scripts/build/manifest.ts";
import { publicEntries } from "../../scripts/gates/public-entries.ts";
import { type InstalledPackage, installPacked, ROOT, sizeOf } from "./packed.ts";

const manifest = readManifest(ROOT);
const specifiers = publicEntries(ROOT).map(({ subpath }) => manifest.name + subpath.slice(1));
const MEGABYTE = 1_000_000;

let installed: InstalledPackage;
beforeAll(() => {
  installed = installPacked();
  return installed.remove;
});

function runModule(text: string): string {
  return execFileSync(process.execPath, ["--input-type=module", "-e", text], {
    cwd: installed.folder,
    encoding: "utf8",
  });
}

describe("the packed package", () => {
  test("holds what was built, the licence and the documents, and no test or source", () => {
    const { files } = installed;
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "package.json", "dist/bin.mjs", "dist/lib/index.js"]),
    );
    expect(
      files.filter(
        (path) =>
          !/^(dist\/|docs\/|examples\/|bench\/(\w+\/)?README\.md$|LICENSE$|package\.json$|llms\.txt$|[A-Z][\w.-]*\.md$)/.test(
            path,
          ),
      ),
    ).toEqual([]);
    expect(
      files.filter((path) => /^(?!examples\/)(?:.*\.(?:test|contract)\.|.*(?<!\.d)\.ts$)/.test(path)),
    ).toEqual([]);
  });

  test("brings its manual page as a list of one, for npm links no other form", () => {
    const { man } = JSON.parse(readFileSync(join(installed.path, "package.json"), "utf8")) as {
      readonly man: unknown;
    };
    expect(man).toEqual(["./docs/nano-agent.1"]);
    expect(installed.files).toContain("docs/nano-agent.1");
  });

  test("needs at most 12 MB and 12 packages on disk, ripgrep's binary not counted", () => {
    const modules = join(installed.folder, "node_modules");
    const packages = globSync(["*/package.json", "@*/*/package.json"], { cwd: modules });
    expect(packages.length).toBeLessThanOrEqual(12);
    expect(sizeOf(modules)).toBeLessThanOrEqual(12 * MEGABYTE);
  });

  test("asks for at most 10 packages itself, each in one exact version, and runs no install script", () => {
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    const versions = Object.values({ ...dependencies, ...optionalDependencies });
    expect(versions.length).toBeLessThanOrEqual(10);
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([]);
    const { scripts = {} } = JSON.parse(readFileSync(join(installed.path, "package.json"), "utf8")) as {
      readonly scripts?: object;
    };
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });
});

describe("each entry of the packed package", () => {
  test("is imported without printing, and offers something unless it is types alone", () => {
    const typesAlone = publicEntries(ROOT)
      .filter(({ source }) => !/^export (?!type )/m.test(readFileSync(join(ROOT, source), "utf8")))
      .map(({ subpath }) => manifest.name + subpath.slice(1));
    expect(typesAlone).toEqual([]);
    const text = `
      const found = {};
      for (const name of ${JSON.stringify(specifiers)}) found[name] = Object.keys(await import(name)).length > 0;
      console.log(JSON.stringify(found));`;
    expect(JSON.parse(runModule(text))).toEqual(
      Object.fromEntries(specifiers.map((name) => [name, !typesAlone.includes(name)])),
    );
  });

  test("says which packages durable runs need where they are not installed", () => {
    const text = `import { createFleet } from "nano-agent/durable";
for (const place of [{}, { databaseUrl: "postgres://nowhere/x" }])
  await createFleet(place).then(
    (fleet) => fleet.close().then(() => console.log("found above the folder of temporary files")),
    ({ code, message }) => console.log(code, message),
  );`;
    expect(runModule(text).trim().split("\n")).toEqual([
      expect.stringMatching(/^invalid_config .*npm install @electric-sql\/pglite pg-boss /),
      expect.stringMatching(/^invalid_config .*npm install pg pg-boss /),
    ]);
  });

  test("loads on an engine below the floor, and what begins some work says there what is missing", () => {
    const text = `
      for (const [owner, name] of [[Promise, "withResolvers"], [Map, "groupBy"], [Object, "groupBy"], [Array, "fromAsync"], [URL, "parse"]])
        delete owner[name];
      for (const name of ${JSON.stringify(specifiers)}) await import(name);
      const { Agent } = await import("nano-agent");
      const { createFleet } = await import("nano-agent/durable");
      const { createWireModel, fromAiSdk, resolveModel } = await import("nano-agent/providers");
      const { createBashTools, FileState } = await import("nano-agent/tools");
      const begin = [
        () => new Agent({ model: "openai/gpt-5" }),
        () => createFleet({}),
        () => resolveModel("openai/gpt-5", { apiKey: "k" }),
        () => createWireModel({}),
        () => fromAiSdk({}),
        () => createBashTools(),
        () => new FileState(),
      ];
      for (const each of begin)
        await (async () => each())().then(() => console.log("begun"), ({ code, message }) => console.log(code, message));`;
    expect(runModule(text).trim().split("\n")).toEqual(
      Array.from({ length: 7 }, () =>
        expect.stringMatching(
          /^invalid_argument This engine is too old for nano-agent: .* Use Node 22\.21 or newer/,
        ),
      ),
    );
    const files = globSync("dist/lib/**/*.js", { cwd: installed.path });
    const linked = files.filter((file) =>
      /import \{[^}]*zstd[^}]*\} from "node:zlib"/.test(readFileSync(join(installed.path, file), "utf8")),
    );
    expect(linked).toEqual([]);
  });

  test("is the same module for require and import", () => {
    const text = `
      import { createRequire } from "node:module";
      const require = createRequire(process.cwd() + "/x.js");
      const same = await Promise.all(${JSON.stringify(specifiers)}.map(async (name) => {
        return Object.entries(await import(name)).every(([key, value]) => require(name)[key] === value);
      }));
      console.log(JSON.stringify(same));`;
    expect(JSON.parse(runModule(text))).toEqual(specifiers.map(() => true));
  });

  test("has types that compile with every check on and without Node's types where an entry does not ask for them", () => {
    symlinkSync(join(ROOT, "node_modules/@types"), join(installed.folder, "node_modules/@types"));
    const check = (names: readonly string[]): string => {
      const lines = names.map(
        (name, index) => `import * as m${index} from "${name}";\nexport { m${index} };`,
      );
      writeFileSync(join(installed.folder, "consumer.ts"), lines.join("\n"));
      writeFileSync(
        join(installed.folder, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            module: "nodenext",
            target: "es2023",
            lib: ["es2024", "dom"],
            strict: true,
            noEmit: true,
            types: [],
          },
          files: ["consumer.ts"],
        }),
      );
      return spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."], {
        cwd: installed.folder,
        encoding: "utf8",
      }).stdout;
    };
    const plain = publicEntries(ROOT)
      .filter(
        ({ source }) => !readFileSync(join(ROOT, source), "utf8").startsWith('/// <reference types="node"'),
      )
      .map(({ subpath }) => manifest.name + subpath.slice(1));
    expect(plain).toContain(manifest.name);
    expect(check(plain)).toBe("");
    expect(check(specifiers)).toBe("");
  });
});

describe("the installed executable", () => {
  const bin = (): string => join(installed.folder, "node_modules/.bin/nano-agent");

  test.each(["--version", "-v"])("answers %s with the version of the package", (word) => {
    expect(execFileSync(bin(), [word], { encoding: "utf8" })).toBe(`${manifest.version}\n`);
  });

  test("answers its version without the rest of the program", () => {
    const text = readFileSync(join(installed.path, "dist/bin.mjs"), "utf8");
    expect(text).not.toMatch(/^import[^(]/m);
    expect(text.split("\n")[0]).toBe("#!/usr/bin/env node");
  });

  test("says on an older Node what it needs, what it found and what to do", () => {
    const pretend = 'Object.defineProperty(process.versions, "node", { value: "20.11.0" });';
    const run = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, bin(), "hi"],
      {
        encoding: "utf8",
      },
    );
    expect({ code: run.status, stdout: run.stdout }).toEqual({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(/needs Node 22\.21 or newer, this is Node 20\.11\.0/);
    expect(run.stderr).toContain("npm ci && npm run demo");
  });

  test("has parts that each load by themselves and print nothing", () => {
    const chunks = globSync("dist/cli/chunks/*.mjs", { cwd: installed.path });
    const imports = chunks.map((chunk) => `await import(${JSON.stringify(join(installed.path, chunk))});`);
    expect(runModule(imports.join("\n"))).toBe("");
  });

  test("comes with the licences of what is bundled into it", () => {
    const hasProgram = existsSync(join(installed.path, "dist/cli/main.mjs"));
    expect(existsSync(join(installed.path, "dist/THIRD-PARTY-LICENSES.txt"))).toBe(hasProgram);
  });
});
