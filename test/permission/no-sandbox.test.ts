import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSandbox } from "../../src/permission/sandbox/open-sandbox.ts";
import { missingForSandbox } from "../sandbox-room.ts";
import { tempFolder } from "../temp-folder.ts";

const missing = missingForSandbox();

describe("a sandbox that does not work is none, and says why in one line", () => {
  const problemOf = async (
    environment: Record<string, string>,
    workspace = [tempFolder()],
    home = tempFolder(),
  ) => {
    const opened = await openSandbox({ workspace, home, environment });
    return "problem" in opened ? opened.problem : opened.sandbox.dispose().then(() => "it works");
  };

  test.skipIf(process.platform !== "linux")("without its program", async () => {
    expect(await problemOf({ PATH: tempFolder() })).toBe(
      "no sandbox (bash and bwrap and nsenter not found): apt-get install bash bubblewrap util-linux, dnf install bash bubblewrap util-linux or apk add bash bubblewrap util-linux; commands ask",
    );
  });

  test("around the home, around nothing, and around keys", async () => {
    const home = tempFolder({ ".ssh/id": "" });
    const PATH = "/usr/bin:/bin";
    expect([
      await problemOf({ PATH }, [home], home),
      await problemOf({ PATH }, [], home),
      await problemOf({ PATH }, [join(home, ".ssh")], home),
    ]).toEqual([
      expect.stringMatching(/^no sandbox \(the workspace \S+ holds the home folder\): .*; commands ask$/),
      expect.stringContaining("no workspace folder was given"),
      expect.stringContaining("lies in a folder that commands may not read"),
    ]);
  });

  /** A program that takes the place of bubblewrap. */
  const fake = (text: string): string => {
    const programs = tempFolder({ bwrap: `#!/bin/bash\n${text}\n` });
    chmodSync(join(programs, "bwrap"), 0o755);
    return `${programs}:/usr/bin:/bin`;
  };
  const skip = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';

  test.skipIf(missing !== "").each([
    ["that confines nothing", skip, /reassociate to namespace|could be written to/],
    [
      "that confines half",
      `args=(); for a in "$@"; do [ "$a" = --unshare-net ] || args+=("$a"); done; args=("\${args[@]/--ro-bind/--bind}"); exec /usr/bin/bwrap "\${args[@]}"`,
      /could be written to|is not as/,
    ],
    [
      "that may make no namespaces",
      "echo 'bwrap: No permissions to create new namespace, likely because' >&2; exit 1",
      /user namespaces are forbidden here .*: in a container choose --yolo/,
    ],
    [
      "that meets a covered /proc",
      `case "$*" in *--proc*) echo "bwrap: Can't mount proc on /newroot/proc: Operation not permitted" >&2; exit 1;; *) exec /usr/bin/bwrap "$@";; esac`,
      /\/proc is partly covered here/,
    ],
    ["that ends without a word", "exit 1", /it ended without a word/],
  ])("with a bubblewrap %s", async (_name, text, expected) => {
    const problem = await problemOf({ PATH: fake(text) });
    expect(problem).toMatch(expected);
    expect(problem).toMatch(/^no sandbox \([^\n]*\): [^\n]*; commands ask$/);
  });

  test.skipIf(missing !== "")(
    "with a program of the workspace in its place: that one is not used",
    async () => {
      const workspace = tempFolder();
      symlinkSync("/bin/false", join(workspace, "bwrap"));
      expect(await problemOf({ PATH: `${workspace}:/usr/bin:/bin` }, [workspace])).toBe("it works");
    },
  );
});
