import type { Fault } from "./fault.ts";
import { FAULTS_IN_EVENTS } from "./faults-in-events.ts";
import { FAULTS_OF_ANSWERS } from "./faults-of-answers.ts";
import { FAULTS_OF_CALLS } from "./faults-of-calls.ts";
import { FAULTS_OF_CONNECTIONS } from "./faults-of-connections.ts";
import { FAULTS_OF_STREAMS } from "./faults-of-streams.ts";

/** Everything a provider and the network before it do wrong in the tests. */
export const PROVIDER_FAULTS: readonly Fault[] = [
  ...FAULTS_OF_ANSWERS,
  ...FAULTS_OF_CONNECTIONS,
  ...FAULTS_IN_EVENTS,
  ...FAULTS_OF_STREAMS,
  ...FAULTS_OF_CALLS,
];
