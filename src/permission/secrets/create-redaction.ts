import { type Redaction, type RedactionStream, redactionMark } from "../../core/base/redaction.ts";
import { KnownSecrets, type Secret } from "./known-secrets.ts";
import { openKeyStart, replacePrivateKeys } from "./private-keys.ts";
import { replaceSettings } from "./replace-settings.ts";
import { replaceTokens } from "./token-shapes.ts";
import { replaceUrlPasswords } from "./url-credentials.ts";

/** The secrets {@link createRedaction} looks for. */
export interface RedactionOptions {
  /** Values that must not be shown: see {@link import("./known-values.ts").secretsOf}. Default: none. */
  readonly secrets?: readonly Secret[];
  /** True when texts with the shape of a credential are taken out too. Default true. */
  readonly shapes?: boolean;
}

/** Held back at most, for a line that does not end. */
const MAX_HELD = 16_000;
/** A longer text is looked at in pieces. */
const MAX_PIECE = 400_000;
/** The rest may hold a secret that only now stands alone: looked at until it stays, at most so often. */
const MAX_ROUNDS = 8;
/** Of a private key that is not at its end yet. */
const MAX_HELD_KEY = 40_000;

/**
 * Makes what takes secrets out of texts: known values in their usual encodings, parts of them where a text
 * was cut, private keys, passwords in addresses, and more than forty formats of tokens. In each place stands
 * a mark such as `«redacted:github-token»`; a known value is marked with the name it came from. A text that
 * was redacted stays as it is. JSON stays JSON. Time is linear in the text.
 */
export function createRedaction(options: RedactionOptions = {}): Required<Redaction> {
  const secrets = new KnownSecrets(options.secrets ?? []);
  const known = untilItStays((input) => withoutKnown(input, secrets));
  const all = untilItStays((input) =>
    withoutShapes(withoutKnown(replacePrivateKeys(input, redactionMark("private-key")), secrets)),
  );
  const text = (options.shapes ?? true) ? all : known;
  return { text, stream: () => new PiecewiseRedaction(text), known };
}

/** Looks at a text again and again, in pieces where it is long. */
function untilItStays(once: (input: string) => string): (input: string) => string {
  const text = (input: string): string => {
    if (input.length > MAX_PIECE) return inPieces(input, new PiecewiseRedaction(text));
    let shown = once(input);
    for (let before = input, round = 1; shown !== before && round < MAX_ROUNDS; round++) {
      before = shown;
      shown = once(before);
    }
    return shown;
  };
  return text;
}

function withoutKnown(text: string, known: KnownSecrets): string {
  let result = "";
  let done = 0;
  for (const { start, end, name } of known.find(text)) {
    result += text.slice(done, start) + (name === "" ? "" : redactionMark(name));
    done = end;
  }
  return result + text.slice(done);
}

function withoutShapes(text: string): string {
  const plain = replaceUrlPasswords(text, redactionMark("password"));
  return replaceSettings(replaceTokens(plain, redactionMark), redactionMark("credential"));
}

function inPieces(text: string, stream: RedactionStream): string {
  let result = "";
  for (let at = 0; at < text.length; at += MAX_PIECE / 2)
    result += stream.push(text.slice(at, at + MAX_PIECE / 2));
  return result + stream.flush();
}

/** Passes on whole lines: no credential but a private key goes across their ends. */
class PiecewiseRedaction implements RedactionStream {
  readonly #text: (text: string) => string;
  #held = "";

  constructor(text: (text: string) => string) {
    this.#text = text;
  }

  push(piece: string): string {
    const all = this.#held + piece;
    const end = certainEnd(all);
    this.#held = all.slice(end);
    return end === 0 ? "" : this.#text(all.slice(0, end));
  }

  flush(): string {
    const rest = this.#text(this.#held);
    this.#held = "";
    return rest;
  }
}

function certainEnd(text: string): number {
  const key = openKeyStart(text);
  if (key !== -1 && text.length - key <= MAX_HELD_KEY) return lineEnd(text.slice(0, key));
  return lineEnd(text);
}

function lineEnd(text: string): number {
  const line = text.lastIndexOf("\n") + 1;
  if (text.length - line <= MAX_HELD) return line;
  // A line without an end: behind its last character that no token has.
  for (let at = text.length; at > text.length - MAX_HELD; at--)
    if (!/[\w+/=.%~-]/.test(text[at - 1] ?? "")) return at;
  return text.length;
}
