/** Bytes of an unfinished line held back so that a later carriage return can still overwrite it. */
const MAX_HELD_LINE = 64 * 1024;
/** An escape sequence longer than this is not waited for. */
const MAX_ESCAPE = 4096;

const ESCAPE = [
  "\\x1b\\[[0-?]*[ -/]*[@-~]", // control sequences (ECMA-48, 5.4)
  "\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)", // operating system commands: titles, links
  "\\x1b[PX^_][^\\x1b]*\\x1b\\\\", // device control and other strings
  "\\x1b[ -/]*[0-OQ-WYZ\\\\`-~]", // two-character functions
].join("|");
const ALL_ESCAPES = new RegExp(ESCAPE, "g");
const STARTS_WITH_ESCAPE = new RegExp(`^(?:${ESCAPE})`);
const NOISE = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const ALL_NOISE = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const OVERSTRIKE = /[^\x08]\x08/g;

/**
 * Turns the bytes a terminal program writes into plain text, piece by piece: escape sequences and control
 * characters go, a line overwritten by carriage returns keeps its last state, a backspace takes the character
 * before it, `\r\n` becomes `\n`, and invalid UTF-8 becomes U+FFFD. Lines and tabs stay as they are. The text
 * does not depend on how the bytes were cut into pieces, unless a line is longer than 64 KiB.
 */
export class TerminalText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #held = "";

  /** The text that is certain after these bytes; an unfinished line waits for its end. */
  push(bytes: Uint8Array): string {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The unfinished line as it stands; what follows is treated as a line of its own. */
  flush(): string {
    const held = this.#held;
    const escape = held.lastIndexOf("\x1b");
    const isCut =
      escape >= 0 && escape >= held.length - MAX_ESCAPE && !STARTS_WITH_ESCAPE.test(held.slice(escape));
    const cut = isCut ? escape : held.length;
    this.#held = held.slice(cut);
    return cleanLine(held.slice(0, cut));
  }

  /** The rest, an unfinished last line included. Afterwards a new text may begin. */
  end(): string {
    const complete = this.#take(this.#decoder.decode());
    const rest = cleanLine(this.#held);
    this.#held = "";
    return complete + rest;
  }

  #take(decoded: string): string {
    const text = this.#held + decoded;
    const end = text.lastIndexOf("\n") + 1;
    const lines = end === 0 ? "" : cleanLines(text.slice(0, end));
    this.#held = text.slice(end);
    return this.#held.length <= MAX_HELD_LINE ? lines : lines + this.flush();
  }
}

function cleanLines(text: string): string {
  if (!NOISE.test(text)) return text;
  return text.split("\n").map(cleanLine).join("\n");
}

function cleanLine(line: string): string {
  if (!NOISE.test(line)) return line;
  const plain = lastState(line.replace(ALL_ESCAPES, ""));
  return eraseBackspaced(plain).replace(ALL_NOISE, "");
}

/** The last thing written between carriage returns; clearing a line shows nothing. */
function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r").filter((state) => state.trim() !== "");
  return states.at(-1) ?? "";
}

function eraseBackspaced(line: string): string {
  let text = line;
  while (text.includes("\b")) {
    const shorter = text.replace(OVERSTRIKE, "");
    if (shorter === text) break;
    text = shorter;
  }
  return text;
}
