// One module for both: loading them separately would split their shared code into an extra file to load.
export { applyImport } from "./apply-import.ts";
export { readForeign } from "./read-foreign.ts";
