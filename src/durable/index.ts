/// <reference types="node" preserve="true" />
export type { DurableRun, DurableState, RunStatus } from "./durable-run.ts";
export { createFleet, type Fleet, type NewDurableRun, type RunQuery } from "./fleet.ts";
export type {
  DurableAgent,
  FleetOptions,
  HostOptions,
  RateLimit,
  RunInfo,
  StartRunOptions,
} from "./fleet-options.ts";
