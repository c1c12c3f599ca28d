import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textOf } from "../../src/core/message/message.ts";
import { askFor, missingForSandbox, openSandboxRoom, type SandboxRoom } from "../sandbox-room.ts";

const missing = missingForSandbox();

/** Says in a file of its folder that it ran, and asks for a host; the proxy's answer is the last line. */
async function ask(room: SandboxRoom): Promise<string> {
  return textOf((await room.bash({ command: `echo ran > here; ${askFor("host.invalid")}` })).content);
}

describe.skipIf(missing !== "")(`sandboxes of one process${missing === "" ? "" : `: ${missing}`}`, () => {
  test("open at once, and each keeps its commands to its own limits", async () => {
    const [plain, open] = await Promise.all([
      openSandboxRoom(),
      openSandboxRoom({ allowDomains: ["host.invalid"] }),
    ]);
    const refused = "no network to host.invalid:443";
    const outside = await plain.bash({ command: `touch ${join(open.cwd, "x")}` });
    expect([
      outside.isError,
      (await ask(plain)).includes(refused),
      (await ask(open)).includes(refused),
    ]).toEqual([true, true, false]);
  });

  test("do not get the hosts of one that was there before them", async () => {
    await openSandboxRoom({ allowDomains: ["host.invalid"] });
    expect(await ask(await openSandboxRoom())).toContain("no network to host.invalid:443");
  });

  test("work when they open while the last one closes", async () => {
    for (let turn = 0; turn < 3; turn++) {
      const before = await openSandboxRoom();
      const closing = before.sandbox.dispose();
      await Promise.resolve();
      const [room] = await Promise.all([openSandboxRoom(), closing]);
      expect(await ask(room)).toContain("no network to host.invalid:443");
      await room.sandbox.dispose();
    }
  });
});
