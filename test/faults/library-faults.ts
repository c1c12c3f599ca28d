import { FAULTS_OF_EXITS, FAULTS_OF_HOOKS, FAULTS_OF_PORTS } from "./faults-of-hooks.ts";
import { FAULTS_OF_TOOLS } from "./faults-of-tools.ts";
import type { LibraryFault } from "./library-fault.ts";

/** Everything that code plugged into an agent does wrong in the tests. */
export const LIBRARY_FAULTS: readonly LibraryFault[] = [
  ...FAULTS_OF_TOOLS,
  ...FAULTS_OF_HOOKS,
  ...FAULTS_OF_EXITS,
  ...FAULTS_OF_PORTS,
];
