/**
 * A process for a fault that ends it: `node library-host.ts NUMBER FILE`, the number that of the fault and
 * the file its journal.
 */
import { LIBRARY_FAULTS } from "./library-faults.ts";
import { playLibraryFault } from "./play-library-fault.ts";

const [, , number = "", path = ""] = process.argv;
const fault = LIBRARY_FAULTS[Number(number)];
if (fault === undefined) throw new Error(`There is no fault ${number}.`);
await playLibraryFault(fault, path);
