import { runCli } from "./run-cli.ts";

// Should a run ever end because nothing is left to wait for, that is no success.
process.exitCode = 1;
// Code of others finds another one.
const exit = process.exit.bind(process);
// Not awaited: a module that waits at its top level cannot be loaded by `require`.
void runCli(process.argv.slice(2)).then((code) => exit(code));
