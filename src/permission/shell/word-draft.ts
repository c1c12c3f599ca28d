import { NO_NAMES, NO_SUBSTITUTIONS, type ShellWord, type SimpleCommand } from "./shell-command.ts";

/** What is known of a word while its parts are read. Long lines have tens of thousands: lists are made when something stands in them. */
export class WordDraft {
  literal = true;
  glob = false;
  braces = false;
  splits = false;
  /** The word, as far as the line tells what it becomes. */
  resolved = "";
  #names: string[] | undefined;
  #substitutions: (readonly SimpleCommand[])[] | undefined;

  get names(): readonly string[] {
    return this.#names ?? NO_NAMES;
  }

  get substitutions(): readonly (readonly SimpleCommand[])[] {
    return this.#substitutions ?? NO_SUBSTITUTIONS;
  }

  /** It depends on a variable, or on what has a name like one. */
  depends(name: string): void {
    if (this.#names === undefined) this.#names = [name];
    else this.#names.push(name);
  }

  /** It depends on all that another word depends on. */
  dependsLike({ names, substitutions }: ShellWord): void {
    for (const each of names) this.depends(each);
    for (const each of substitutions) this.runs(each);
  }

  /** It depends on what commands print. */
  runs(commands: readonly SimpleCommand[]): void {
    if (this.#substitutions === undefined) this.#substitutions = [commands];
    else this.#substitutions.push(commands);
  }
}
