import { containForeignCode } from "./foreign-code.ts";

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
