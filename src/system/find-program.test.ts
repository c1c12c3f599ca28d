import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { findProgram } from "./find-program.ts";

test.skipIf(process.platform === "win32")(
  "a program of the project is passed over, however PATH leads to it",
  () => {
    const project = tempFolder({ "bin/tool": "", tool: "" });
    const system = tempFolder({ tool: "", other: "" });
    const linked = tempFolder();
    for (const path of [join(project, "bin/tool"), join(project, "tool"), join(system, "tool")])
      chmodSync(path, 0o755);
    symlinkSync(join(project, "tool"), join(linked, "tool"));
    const find = (name: string, ...folders: readonly string[]) =>
      findProgram(name, { path: folders.join(":"), avoid: [project] });
    expect([
      find("tool", ".", "", "bin", project, join(project, "bin"), linked, system),
      find("tool", project),
      find("other", system),
      find("none", system),
    ]).toEqual([join(system, "tool"), undefined, undefined, undefined]);
  },
);
