/** How waiting times grow. */
export interface BackoffOptions {
  /** Upper bound of the first wait. Default 500. */
  readonly baseMs?: number;
  /** Upper bound of every wait. Default 30,000. */
  readonly maxMs?: number;
  /** A number from 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Milliseconds to wait before retry number `attempt` (from 1): a whole number drawn evenly from the upper
 * half of the range up to `baseMs * 2 ** (attempt - 1)`, at most `maxMs`. Jitter keeps clients that failed
 * together from coming back together; its floor keeps unlucky draws from using all attempts up before an
 * overloaded server can recover.
 */
export function backoffDelayMs(attempt: number, options: BackoffOptions = {}): number {
  const { baseMs = 500, maxMs = 30_000, random = Math.random } = options;
  const doublings = Math.min(Math.max(attempt - 1, 0), 1000);
  const boundMs = Math.min(maxMs, baseMs * 2 ** doublings);
  const floorMs = Math.floor(boundMs / 2);
  return floorMs + Math.floor(random() * (boundMs - floorMs));
}

/**
 * Milliseconds from a `Retry-After` header (RFC 9110, 10.2.3): seconds, also with a fraction, or an HTTP date
 * in any of its three forms, where a past one means 0. `undefined` for anything else, and for waits beyond a
 * year: nobody means those.
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,15}(?:\.\d{1,15})?$/.test(text)) return believable(Math.ceil(Number(text) * 1000));
  if (!HTTP_DATE.test(text)) return undefined;
  // The oldest form (asctime) names no zone and means GMT.
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : believable(Math.max(0, date - nowMs));
}

const YEAR_MS = 366 * 86_400_000;

/** A weekday first: without it `Date.parse` takes almost anything for a date, `-5` included. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{8,32}$/;

function believable(ms: number): number | undefined {
  return ms <= YEAR_MS ? ms : undefined;
}
