import { invalidArgument } from "../../core/base/errors.ts";

/**
 * Protects the program while foreign code runs in its process. Output of that code goes to standard error,
 * because standard output holds answers or a protocol (`drawsScreen`: it stays with the screen);
 * `process.exit` throws, failing its caller instead of the run. Holds until the result is disposed of.
 */
export function containForeignCode(drawsScreen: boolean): Disposable {
  const { stdout, stderr } = process;
  const exit = process.exit.bind(process);
  // The program itself writes with `ownWrite`, which this does not affect.
  if (!drawsScreen) stdout.write = stderr.write.bind(stderr);
  process.exit = refuseExit;
  return {
    [Symbol.dispose]: () => {
      if (!drawsScreen) Reflect.deleteProperty(stdout, "write");
      process.exit = exit;
    },
  };
}

function refuseExit(code?: number | string | null): never {
  const error = invalidArgument(
    `It called process.exit(${code ?? ""}), which would end the whole run: return, or throw an error, instead.`,
  );
  // Stack traces then start at the offending call.
  Error.captureStackTrace(error, refuseExit);
  throw error;
}

/** Uncaught errors, assigned to the code that caused them. */
export class UncaughtErrors {
  readonly #owners = new Map<string, (error: unknown) => boolean>();
  readonly #drawsScreen: boolean;
  #contained: Disposable | undefined;

  constructor({ drawsScreen = false }: { readonly drawsScreen?: boolean } = {}) {
    this.#drawsScreen = drawsScreen;
  }

  /**
   * Registers `takes`, which reports errors of a file and returns true for its own; contains foreign code.
   */
  readonly adopt = (path: string, takes: (error: unknown) => boolean): void => {
    this.#contained ??= containForeignCode(this.#drawsScreen);
    this.#owners.set(path, takes);
  };

  /** True if an owner recognized the error and reported it. */
  readonly take = (error: unknown): boolean => [...this.#owners.values()].some((takes) => takes(error));

  /** Takes uncaught errors until the result is disposed of. An error without an owner ends the process. */
  listen(): Disposable {
    const caught = (error: unknown): void => {
      if (this.take(error)) return;
      process.off("uncaughtException", caught);
      // Node then shows where it was thrown; the timeout covers a Node that ignores unhandled rejections.
      void Promise.reject(error);
      setTimeout(() => {
        throw error;
      });
    };
    process.on("uncaughtException", caught);
    return {
      [Symbol.dispose]: () => {
        process.off("uncaughtException", caught);
        this.#contained?.[Symbol.dispose]();
        this.#contained = undefined;
      },
    };
  }
}
