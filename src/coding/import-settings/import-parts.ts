// One module for both: what is loaded on its own splits the code it shares into one more file to load.
export { applyImport } from "./apply-import.ts";
export { readForeign } from "./read-foreign.ts";
