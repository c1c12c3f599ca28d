const HEAD = '{"type":"content_block_delta","index":';
const MIDDLE = ',"delta":{"type":"text_delta","text":"';
const ZERO = 48;
const NINE = 57;
const SPACE = 32;
const CLOSE = 125;

/** What a text delta says. */
export interface TextDeltaEvent {
  readonly index: number;
  readonly text: string;
}

/**
 * Reads an event that is a plain text delta, spelled as the API spells it, without parsing it as JSON: nearly all events of an
 * answer are of this kind, and this is ten times cheaper. `undefined` for everything else, text with escapes included.
 */
export function plainTextDelta(data: string): TextDeltaEvent | undefined {
  if (!data.startsWith(HEAD)) return undefined;
  let at = HEAD.length;
  let index = 0;
  for (let code = data.charCodeAt(at); code >= ZERO && code <= NINE; code = data.charCodeAt(at)) {
    index = index * 10 + code - ZERO;
    at++;
  }
  if (at === HEAD.length || !data.startsWith(MIDDLE, at)) return undefined;
  const start = at + MIDDLE.length;
  const end = data.indexOf('"', start);
  if (end === -1 || !closesTwice(data, end + 1)) return undefined;
  const text = data.slice(start, end);
  return text.includes("\\") ? undefined : { index, text };
}

/** Whether nothing but two closing braces follows; the API pads its events with blanks. */
function closesTwice(data: string, from: number): boolean {
  let braces = 0;
  for (let at = from; at < data.length; at++) {
    const code = data.charCodeAt(at);
    if (code === CLOSE) braces++;
    else if (code !== SPACE) return false;
  }
  return braces === 2;
}
