import { type Clock, systemClock } from "../core/base/async.ts";
import { Refusal } from "./refusal.ts";

export interface GuardOptions {
  readonly token: string;
  /** Names the server may be addressed by, besides those of this machine. `"ip"`: any IP address. */
  readonly hosts?: readonly string[];
  readonly clock?: Clock;
}

const UNDELAYED_TRIES = 20;
const DELAY_MS = 1_000;
/** Milliseconds until a wrong token is forgotten, one after the other. */
const FORGET_MS = 60_000;
/** Wrong tokens that may wait for their answer; more are refused immediately. */
const MAX_WAITING = 50;
const COOKIE_DAYS = 30;

export class RequestGuard {
  readonly #token: string;
  readonly #hosts: ReadonlySet<string>;
  readonly #clock: Clock;
  #wrong = 0;
  /** Time up to which wrong tokens have been forgotten. */
  #forgotten: number;
  #waiting = 0;
  #lastDelay: Promise<unknown> = Promise.resolve();

  constructor({ token, hosts = [], clock = systemClock }: GuardOptions) {
    this.#token = token;
    this.#hosts = new Set(["localhost", "127.0.0.1", "[::1]", ...hosts.map((name) => name.toLowerCase())]);
    this.#clock = clock;
    this.#forgotten = clock.now();
  }

  /**
   * Throws for a request to a name that is not this server's (a page may point its own name here), or from a
   * page of another origin.
   */
  assertHostAndOrigin(request: Request): void {
    const { headers } = request;
    const host = headers.get("host") ?? new URL(request.url).host;
    const requested = URL.parse(`http://${host}/`);
    if (
      requested === null ||
      requested.host !== withoutDefaultPort(host) ||
      !this.#isServed(requested.hostname)
    )
      throw new Refusal(
        403,
        "wrong_host",
        `This server is not ${JSON.stringify(host.slice(0, 200))}. Ask it by the address it printed.`,
      );
    const origin = headers.get("origin");
    if (origin !== null && URL.parse(origin)?.host !== requested.host)
      throw new Refusal(403, "wrong_origin", "Pages of other origins may not ask this server.");
    const site = headers.get("sec-fetch-site");
    const isVisit = request.method === "GET" && headers.get("sec-fetch-mode") === "navigate";
    if (site !== null && site !== "same-origin" && site !== "none" && !isVisit)
      throw new Refusal(403, "wrong_origin", "Pages of other origins may not ask this server.");
  }

  /** Throws if a request has neither the token nor the cookie it was exchanged for. */
  async assertToken(request: Request): Promise<void> {
    const { headers } = request;
    const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
    if (bearer !== undefined) return this.assertIsToken(bearer);
    const cookies = cookiesNamed(this.cookieName(request), headers.get("cookie") ?? "");
    if (cookies.length === 0) throw unauthorized();
    const wanted = await this.#cookieValue();
    for (const cookie of cookies) if (await isSame(cookie, wanted)) return;
    await this.#refuse();
  }

  /** Throws for any text but the token; after many wrong ones, only after a delay. */
  async assertIsToken(text: string): Promise<void> {
    if (!(await isSame(text, this.#token))) await this.#refuse();
  }

  /** Cookies ignore the port, so each port has its own cookie name. */
  cookieName(request: Request): string {
    const host = request.headers.get("host") ?? new URL(request.url).host;
    return `nano_agent_${URL.parse(`http://${host}/`)?.port || "80"}`;
  }

  /** The header that sets the cookie, which is derived from the token but does not reveal it. */
  async cookie(request: Request): Promise<string> {
    const value = await this.#cookieValue();
    const isSecure =
      new URL(request.url).protocol === "https:" || request.headers.get("x-forwarded-proto") === "https";
    const life = `Max-Age=${COOKIE_DAYS * 86_400}`;
    return `${this.cookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Strict; ${life}${isSecure ? "; Secure" : ""}`;
  }

  #isServed(name: string): boolean {
    if (this.#hosts.has(name)) return true;
    // An IP address cannot be made to lead elsewhere.
    return this.#hosts.has("ip") && (name.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(name));
  }

  async #cookieValue(): Promise<string> {
    return hexOf(await digest(`nano-agent cookie\n${this.#token}`));
  }

  async #refuse(): Promise<never> {
    this.#forget();
    this.#wrong++;
    if (this.#wrong > UNDELAYED_TRIES) {
      if (this.#waiting >= MAX_WAITING)
        throw new Refusal(429, "too_many_tries", "Too many wrong tokens. Wait a minute.", {
          headers: { "retry-after": "60" },
        });
      this.#waiting++;
      this.#lastDelay = this.#lastDelay.then(() => this.#clock.sleep(DELAY_MS));
      await this.#lastDelay;
      this.#waiting--;
    }
    throw unauthorized();
  }

  #forget(): void {
    const now = this.#clock.now();
    // If the clock was set back, nothing is forgotten, and forgetting continues from the new time.
    const count = Math.max(0, Math.floor((now - this.#forgotten) / FORGET_MS));
    this.#wrong = Math.max(0, this.#wrong - count);
    this.#forgotten = this.#wrong === 0 || now < this.#forgotten ? now : this.#forgotten + count * FORGET_MS;
  }
}

function unauthorized(): Refusal {
  return new Refusal(
    401,
    "unauthorized",
    "Send the token that was printed at the start: Authorization: Bearer TOKEN.",
    { headers: { "www-authenticate": "Bearer" } },
  );
}

/** The URL parser omits it too. */
function withoutDefaultPort(host: string): string {
  return host.toLowerCase().replace(/:80$/, "");
}

/** The values of a cookie: a browser may send several with the same name. */
function cookiesNamed(name: string, header: string): readonly string[] {
  return header.split(";").flatMap((part) => {
    const [key = "", ...value] = part.split("=");
    return key.trim() === name ? [value.join("=").trim()] : [];
  });
}

/** Compares without revealing through timing where two texts differ. */
async function isSame(given: string, wanted: string): Promise<boolean> {
  const [one, other] = await Promise.all([digest(given), digest(wanted)]);
  return one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
