import { runCli } from "./run-cli.ts";

// A run that ends only because nothing is left to wait for has failed.
process.exitCode = 1;
// Kept because foreign code gets a different `process.exit`.
const exit = process.exit.bind(process);
// Not awaited: a module that waits at its top level cannot be loaded by `require`.
void runCli(process.argv.slice(2)).then((code) => exit(code));
