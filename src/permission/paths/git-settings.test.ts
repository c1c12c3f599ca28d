import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { settingsIn, userFilterWords } from "./git-settings.ts";

test("filters of the user count with what their settings include, each file once, also in a circle", () => {
  const home = tempFolder({
    ".gitconfig": `[include]\n${"\tpath = ~/.gitconfig\n".repeat(3)}\tpath = more/a # mine\n[filter "x"]\n\tclean = one %f\n`,
    "more/a": '[includeIf "gitdir:/x"]\n\tpath = b\n',
    "more/b":
      '[include]\n\tpath = a\n\tpath = none\n[filter "y"]\n\tprocess = two run\n[diff "z"]\n\ttextconv = no\n',
  });
  expect(userFilterWords(home)).toEqual(["one", "f", "two", "run"]);
});

// Where nobody could read it to its end: `/proc/self/pagemap` has none.
test.runIf(existsSync("/proc/self/status"))(
  "a file of the system that says it is empty cannot be read",
  () => {
    const folder = tempFolder({ empty: "" });
    symlinkSync("/proc/self/status", join(folder, "config"));
    expect(["empty", "config"].map((name) => settingsIn(join(folder, name)))).toEqual([
      [],
      [{ key: "what cannot be read", value: join(folder, "config") }],
    ]);
  },
);
