import { type Clock, systemClock } from "../core/base/async.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import type { Problem } from "./server-api.ts";
import { ServerProblem } from "./server-problem.ts";

/** Options of {@link import("./create-reader.ts").createReader}. */
export interface ReaderOptions {
  /** Address of the server. Default: that of the page. */
  readonly baseUrl?: string;
  /** Sent with each request. Default: none, for the page has a cookie. */
  readonly token?: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

type Query = { readonly [name: string]: string | number | undefined };

/** Requests to one server. */
export class ServerLink {
  readonly clock: Clock;
  readonly #base: string;
  readonly #headers: { readonly [name: string]: string };
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, token, fetch: own, clock = systemClock }: ReaderOptions) {
    this.clock = clock;
    this.#base = baseUrl?.replace(/\/+$/, "") ?? "";
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // Browsers want it called on the global object.
    this.#fetch = own ?? ((input, init) => globalThis.fetch(input, init));
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) given.set(name, String(value));
    const text = given.toString();
    return this.#json(text === "" ? path : `${path}?${text}`, { method: "GET" });
  }

  post<T>(path: string, body: object): Promise<T> {
    const headers = { "content-type": "application/json" };
    return this.#json(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** The answer to a request. Rejects with a {@link ServerProblem} for all but success. */
  async request(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(init.headers as { readonly [name: string]: string }) };
    const response = await this.#fetch(`${this.#base}/api/${path}`, {
      ...init,
      headers,
      credentials: "same-origin",
    });
    if (response.ok) return response;
    throw await problemIn(response);
  }

  async #json<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.request(path, init);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}

/** The problem in an answer; of one that is none, as from a proxy, its status. */
async function problemIn(response: Response): Promise<ServerProblem> {
  const { status, statusText } = response;
  const parsed = safeParse(await response.text());
  if (parsed.ok && isRecord(parsed.value) && typeof parsed.value["detail"] === "string")
    return new ServerProblem(parsed.value as unknown as Problem);
  const detail = `The server answered ${status} ${statusText}.`;
  return new ServerProblem({ type: "about:blank", title: statusText, status, detail, code: "unknown" });
}
