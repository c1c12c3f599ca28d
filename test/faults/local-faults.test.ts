import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { LOCAL_FAULTS } from "./local-faults.ts";
import { isFullSweep } from "./sweep.ts";
import { tryFault } from "./try-fault.ts";

/** Whether this system lets a program mount file systems that only it sees. */
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

const TRIED = LOCAL_FAULTS.filter(
  ({ sampled, mounts }) => (isFullSweep || sampled === true) && (mounts !== true || canMount),
);

it.each(TRIED)("$scenario", async (fault) => {
  await expect(tryFault(fault, "openai_chat")).resolves.toBeUndefined();
});
