import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { loadConfigFile } from "./load-config.ts";
import { saveRule } from "./saved-rules.ts";
import { mergeConfig } from "./settings.ts";

const CWD = "/home/me/shop";

test("the first rule makes a file that its user alone can read, and holds in its folder only", async () => {
  const configFolder = join(tempFolder(), "nano-agent");
  const path = await saveRule("bash(npm test)", { configFolder, cwd: CWD });
  const user = await loadConfigFile(path);
  const rulesIn = (cwd: string) =>
    mergeConfig({ flags: {}, environment: {}, project: [], user, cwd }).values.permissions;
  expect({
    mode: statSync(path).mode & 0o777,
    here: rulesIn(CWD),
    below: rulesIn(`${CWD}/sub`),
    left: readdirSync(configFolder),
  }).toEqual({ mode: 0o600, here: { allow: ["bash(npm test)"] }, below: undefined, left: ["config.json"] });
});

test("comments, layout and other settings stay, and a rule is written once", async () => {
  const configFolder = tempFolder({
    "config.json": `{\n  // mine\n  "model": "openai/gpt-5", /* why */\n  "folders": { "${CWD}": { "permissions": { "allow": ["read(/etc/hosts)"] } } },\n}\n`,
  });
  const place = { configFolder, cwd: CWD };
  await saveRule("bash(make a*b)", place);
  await saveRule("bash(make a*b)", place);
  const text = readFileSync(join(configFolder, "config.json"), "utf8");
  expect([text.includes("// mine"), text.includes("/* why */")]).toEqual([true, true]);
  expect((await loadConfigFile(join(configFolder, "config.json")))?.config).toEqual({
    model: "openai/gpt-5",
    folders: { [CWD]: { permissions: { allow: ["read(/etc/hosts)", "bash(make a*b)"] } } },
  });
});

test("many writers at once lose no rule", async () => {
  const configFolder = tempFolder();
  const rules = Array.from({ length: 20 }, (_, index) => `bash(make ${index})`);
  await Promise.all(rules.map((rule) => saveRule(rule, { configFolder, cwd: CWD })));
  const loaded = await loadConfigFile(join(configFolder, "config.json"));
  expect(loaded?.config.folders?.[CWD]?.permissions?.allow?.toSorted()).toEqual(rules.toSorted());
});

test("a link stays a link, and its target is written", async () => {
  const target = tempFolder({ "dotfiles.json": "{}" });
  const configFolder = tempFolder();
  symlinkSync(join(target, "dotfiles.json"), join(configFolder, "config.json"));
  await saveRule("todo", { configFolder, cwd: CWD });
  expect(readFileSync(join(target, "dotfiles.json"), "utf8")).toContain("todo");
});

test("a file that is not a config is left as it is", async () => {
  for (const text of ["{ nonsense", '{ "folders": [] }', '{ "__proto__": {} }']) {
    const configFolder = tempFolder({ "config.json": text });
    await expect(saveRule("todo", { configFolder, cwd: CWD })).rejects.toMatchObject({
      code: "invalid_config",
    });
    expect(readFileSync(join(configFolder, "config.json"), "utf8")).toBe(text);
  }
});

test.skipIf(process.getuid?.() === 0)(
  "a folder that cannot be written refuses (needs another user than root)",
  async () => {
    const configFolder = tempFolder();
    chmodSync(configFolder, 0o500);
    await expect(saveRule("todo", { configFolder, cwd: CWD })).rejects.toMatchObject({
      code: "invalid_config",
    });
    chmodSync(configFolder, 0o700);
  },
);

test("what stands in the place of the file and is none refuses", async () => {
  const configFolder = tempFolder();
  mkdirSync(join(configFolder, "config.json"));
  await expect(saveRule("todo", { configFolder, cwd: CWD })).rejects.toMatchObject({
    code: "invalid_config",
  });
  const blocked = tempFolder({ file: "" });
  await expect(
    saveRule("todo", { configFolder: join(blocked, "file", "x"), cwd: CWD }),
  ).rejects.toMatchObject({
    code: "invalid_config",
  });
  expect(existsSync(join(configFolder, "config.json.lock"))).toBe(false);
  writeFileSync(join(blocked, "file"), "");
});
