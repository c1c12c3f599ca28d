import { type Redaction, type RedactionStream, redactionMark } from "../../core/base/redaction.ts";
import { KnownSecrets, type Secret } from "./known-secrets.ts";
import { openKeyStart, replacePrivateKeys } from "./private-keys.ts";
import { replaceTokens } from "./token-formats.ts";
import { replaceUrlPasswords } from "./url-credentials.ts";

/** The secrets {@link createRedaction} looks for. */
export interface RedactionOptions {
  /** Values that must not be shown, as `secretsOf` finds them. Default: none. */
  readonly secrets?: readonly Secret[];
  /**
   * True when private keys, tokens and passwords in addresses are taken out by their format. Default true.
   */
  readonly shapes?: boolean;
}

/**
 * Makes what takes secrets out of texts: known values as they are and in Base64, URL- and JSON-escaped form;
 * private keys; passwords in addresses; the token formats of twenty services. Each is replaced with a mark
 * such as `«redacted:github-token»`; a known value is marked with its name. JSON remains valid. Time is
 * linear in the text.
 */
export function createRedaction(options: RedactionOptions = {}): Required<Redaction> {
  const secrets = new KnownSecrets(options.secrets ?? []);
  const known = (text: string): string => secrets.replace(text, redactionMark);
  const all = (text: string): string => {
    const shown = known(replacePrivateKeys(text, redactionMark("private-key")));
    return replaceTokens(
      replaceUrlPasswords(shown, () => redactionMark("password")),
      redactionMark,
    );
  };
  const text = (options.shapes ?? true) ? all : known;
  return { text, stream: () => new LineRedaction(text), known };
}

/** Characters of a line without an end that are held back. */
const MAX_LINE = 16_000;
/** No known value and no token is longer. */
const MAX_SECRET = 4_096;
const CUT_STEP = 512;
/** Characters of a private key that are held back until it ends. */
const MAX_KEY = 40_000;

/** Passes on whole lines, and private keys once they are complete. */
class LineRedaction implements RedactionStream {
  readonly #text: (text: string) => string;
  #held = "";

  constructor(text: (text: string) => string) {
    this.#text = text;
  }

  push(piece: string): string {
    this.#held += piece;
    const end = this.#certainEnd();
    const certain = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return this.#text(certain);
  }

  flush(): string {
    const rest = this.#text(this.#held);
    this.#held = "";
    return rest;
  }

  #certainEnd(): number {
    const text = this.#held;
    const line = text.lastIndexOf("\n") + 1;
    const key = openKeyStart(text);
    if (key !== -1 && text.length - key <= MAX_KEY) return text.lastIndexOf("\n", key) + 1;
    return text.length - line <= MAX_LINE ? line : this.#cut(text);
  }

  /** Where a long line can be cut without cutting a secret. */
  #cut(text: string): number {
    const start = text.length - MAX_LINE;
    const end = text.slice(start);
    const shown = this.#text(end);
    const last = MAX_LINE - MAX_SECRET;
    for (let cut = last; cut > last - 2 * MAX_SECRET; cut -= CUT_STEP)
      if (this.#text(end.slice(0, cut)) + this.#text(end.slice(cut)) === shown) return start + cut;
    return start + last;
  }
}
