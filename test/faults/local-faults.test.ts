import { it } from "vitest";
import { LOCAL_FAULTS } from "./local-faults.ts";
import { isFullSweep } from "./sweep.ts";
import { tryFault } from "./try-fault.ts";

it.each(LOCAL_FAULTS.filter(({ sampled }) => isFullSweep || sampled === true))(
  "$scenario",
  { timeout: 120_000 },
  (fault) => tryFault(fault, "openai_chat"),
);
