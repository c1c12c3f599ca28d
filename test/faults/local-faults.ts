import type { Fault } from "./fault.ts";
import { FAULTS_OF_CHILDREN } from "./faults-of-children.ts";
import { FAULTS_OF_DISKS, FAULTS_OF_HOMES } from "./faults-of-disks.ts";
import { FAULTS_OF_SIGNALS } from "./faults-of-signals.ts";

/** Everything that goes wrong on the machine the command runs on, in the tests. */
export const LOCAL_FAULTS: readonly Fault[] = [
  ...FAULTS_OF_CHILDREN,
  ...FAULTS_OF_DISKS,
  ...FAULTS_OF_HOMES,
  ...FAULTS_OF_SIGNALS,
];
