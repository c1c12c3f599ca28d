import { spawnSync } from "node:child_process";
import { it } from "vitest";
import { LOCAL_FAULTS } from "./local-faults.ts";
import { isFullSweep } from "./sweep.ts";
import { tryFault } from "./try-fault.ts";

/** Whether this system lets a program mount file systems that only it sees. */
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

for (const fault of LOCAL_FAULTS.filter(({ sampled }) => isFullSweep || sampled === true))
  it.skipIf(fault.mounts === true && !canMount)(fault.scenario, { timeout: 120_000 }, () =>
    tryFault(fault, "openai_chat"),
  );
