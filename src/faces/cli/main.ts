import { runCli } from "./run-cli.ts";

// Not awaited: a module that waits at its top level cannot be loaded by `require`.
void runCli(process.argv.slice(2)).then((code) => process.exit(code));
