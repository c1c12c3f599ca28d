import { basename } from "node:path";
import type { CodingSession } from "../../../coding/session/coding-session.ts";
import { type Environment, variable } from "../../../system/env.ts";

/** Without a key for this long the person counts as away. */
const AWAY_MS = 10_000;

export interface AttentionOptions {
  readonly terminal: { readonly write: (text: string) => void; readonly setTitle: (title: string) => void };
  readonly environment: Environment;
  readonly cwd: string;
  readonly elapsed: () => number;
  /** True: writes nothing but text and the bell. */
  readonly isPlain?: boolean;
}

type WatchedSession = Pick<CodingSession, "onChange"> & {
  readonly view: Pick<CodingSession["view"], "state">;
};

/** Shows the state in the window's title; alerts an absent person to questions and the end of a run. */
export class Attention {
  readonly #options: AttentionOptions;
  #lastKeyAt: number;
  #state = "";
  #isSilent = false;
  #end: (() => void) | undefined;

  constructor(options: AttentionOptions) {
    this.#options = options;
    this.#lastKeyAt = options.elapsed();
  }

  keyPressed(): void {
    this.#lastKeyAt = this.#options.elapsed();
  }

  silence(): void {
    this.#isSilent = true;
  }

  watch(session: WatchedSession): void {
    this.#end?.();
    this.#state = "";
    this.#end = session.onChange(({ rest }) => {
      if (rest) this.#show(session.view.state);
    });
    this.#show(session.view.state);
  }

  #show(state: CodingSession["view"]["state"]): void {
    if (state === this.#state) return;
    const before = this.#state;
    this.#state = state;
    const { terminal, cwd, elapsed } = this.#options;
    terminal.setTitle(`${TITLES[state]}nano-agent - ${basename(cwd)}`);
    const isAlert = state === "waiting" || (state === "idle" && before !== "" && before !== "idle");
    if (isAlert && !this.#isSilent && elapsed() - this.#lastKeyAt >= AWAY_MS)
      terminal.write(this.#alert(state));
  }

  #alert(state: string): string {
    const { environment, isPlain = false } = this.#options;
    const program = variable(environment, "TERM_PROGRAM") ?? "";
    const text = state === "waiting" ? "nano-agent asks something" : "nano-agent has ended its run";
    return NOTIFICATION_TERMINALS.has(program) && !isPlain ? `\u001B]9;${text}\u0007` : "\u0007";
  }
}

const TITLES: { readonly [state in CodingSession["view"]["state"]]: string } = {
  idle: "",
  running: "* ",
  waiting: "? ",
  stopping: "* ",
  closed: "",
};

/** Terminals that show such text as a notification. */
const NOTIFICATION_TERMINALS: ReadonlySet<string> = new Set(["iTerm.app", "ghostty", "WezTerm", "kitty"]);
