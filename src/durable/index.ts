/// <reference types="node" preserve="true" />
export type {
  DurableAgent,
  DurableRun,
  DurableState,
  FleetOptions,
  HostOptions,
  RateLimit,
  RunInfo,
  RunStatus,
  StartRunOptions,
} from "./durable-run.ts";
export { createFleet, type Fleet, type NewDurableRun, type RunQuery } from "./fleet.ts";
