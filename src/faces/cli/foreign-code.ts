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

/** Errors that nobody caught, for whoever's code they came from. */
export class StrayErrors {
  readonly #owners = new Map<string, (error: unknown) => boolean>();
  readonly #drawsScreen: boolean;
  #contained: Disposable | undefined;

  constructor({ drawsScreen = false }: { readonly drawsScreen?: boolean } = {}) {
    this.#drawsScreen = drawsScreen;
  }

  /**
   * Has the errors of a file told by `takes`, which says whether one is; its code is contained from then on.
   */
  readonly adopt = (path: string, takes: (error: unknown) => boolean): void => {
    this.#contained ??= containForeignCode(this.#drawsScreen);
    this.#owners.set(path, takes);
  };

  /** True when an error was somebody's, who has told it. */
  readonly take = (error: unknown): boolean => [...this.#owners.values()].some((takes) => takes(error));

  /** Takes uncaught errors until what it returns is disposed of. What is nobody's ends the process. */
  listen(): Disposable {
    const caught = (error: unknown): void => {
      if (this.take(error)) return;
      process.off("uncaughtException", caught);
      // Node then shows the line it was thrown at. If told to let lost promises pass, it is thrown after all.
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
