import { describe, expect, test } from "vitest";
import { findShell, unattendedEnvironment } from "./ports.ts";

const system = (...paths: readonly string[]): ((path: string) => boolean) => {
  return (path) => paths.includes(path);
};

describe("the shell", () => {
  test.each([
    ["bash in its usual place", "linux", ["/bin/bash", "/opt/bash", "/bin/sh"], "/bin/bash"],
    ["bash in an absolute folder of PATH", "linux", ["./bash", "/opt/bash", "/bin/sh"], "/opt/bash"],
    ["sh where there is no bash", "linux", ["/bin/sh"], "/bin/sh"],
    ["nothing where there is no shell", "darwin", [], undefined],
    [
      "only Git's bash on Windows",
      "win32",
      ["/bin/bash", "C:\\Program Files\\Git\\bin\\bash.exe"],
      "C:\\Program Files\\Git\\bin\\bash.exe",
    ],
    ["nothing on a Windows without it", "win32", ["/bin/bash"], undefined],
  ])("%s", (_name, platform, paths, expected) => {
    expect(findShell({ PATH: ".:bin:/opt" }, platform, system(...paths))).toBe(expected);
  });

  test("editors, pagers and prompts of the caller are replaced, the rest stays", () => {
    const { HOME, EDITOR, PAGER, AI_AGENT, CI } = unattendedEnvironment({
      HOME: "/h",
      EDITOR: "vi",
      PAGER: "less",
    });
    expect({ HOME, EDITOR, PAGER, AI_AGENT, CI }).toEqual({
      HOME: "/h",
      EDITOR: "true",
      PAGER: "cat",
      AI_AGENT: "nano-agent",
      CI: undefined,
    });
  });
});
