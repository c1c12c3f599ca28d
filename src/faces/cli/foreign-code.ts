import { misuse } from "../../core/base/errors.ts";

/**
 * Keeps the process to the program while code of others runs in it. What that code prints goes to standard
 * error, for standard output holds answers, or a protocol (`drawsScreen`: it stays a screen's);
 * `process.exit` throws, so that it costs its caller and not the run. Holds until what it returns is
 * disposed of.
 */
export function containForeignCode(drawsScreen: boolean): Disposable {
  const { stdout, stderr } = process;
  const exit = process.exit.bind(process);
  // The program itself writes by `ownWrite`, which this does not change.
  if (!drawsScreen) stdout.write = stderr.write.bind(stderr);
  process.exit = refusedExit;
  return {
    [Symbol.dispose]: () => {
      if (!drawsScreen) Reflect.deleteProperty(stdout, "write");
      process.exit = exit;
    },
  };
}

function refusedExit(code?: number | string | null): never {
  const error = misuse(
    `It called process.exit(${code ?? ""}), which would end the whole run: return, or throw an error, instead.`,
  );
  // The innermost call of its stack is the one at fault.
  Error.captureStackTrace(error, refusedExit);
  throw error;
}
