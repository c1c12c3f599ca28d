import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  refreshAuthorization,
  selectResourceURL,
} from "@modelcontextprotocol/client";
import { type Clock, raceAbort } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { listen } from "../../system/listen.ts";
import { type Authorization, ConnectionError } from "./connection.ts";
import type { HttpServer } from "./server-definition.ts";

/** A stored login, readable only by the user. */
export interface Login {
  /** The server it is for: tokens are sent to no other. */
  readonly url: string;
  /** The authorization server that issued it: no other one sees its client or tokens. */
  readonly issuer?: string;
  readonly client: { readonly client_id: string; readonly [field: string]: unknown };
  readonly tokens: {
    readonly access_token: string;
    readonly token_type: string;
    readonly refresh_token?: string | undefined;
    readonly [field: string]: unknown;
  };
  /** Milliseconds since the epoch; absent if the server does not say. */
  readonly expiresAt?: number;
  /** Scopes that a call needed and the tokens lack. */
  readonly wanted?: string;
}

/** Stores the login for one server. Changes by several processes are made one after the other. */
export interface LoginStore {
  readonly read: () => Login | undefined;
  readonly change: (change: (before: Login | undefined) => Promise<Login | undefined>) => Promise<void>;
}

/** How long before expiry a token is renewed, so that it does not expire during a call. */
const RENEW_BEFORE_MS = 60_000;

/** Tokens are renewed before they expire and when refused, by one process on behalf of all. */
export function authorizationOf(server: HttpServer, parts: LoginParts): Authorization {
  const { store, clock } = parts;
  const isDue = ({ expiresAt }: Login): boolean =>
    expiresAt !== undefined && expiresAt - clock.now() < RENEW_BEFORE_MS;
  const renew = async (refused: string | undefined): Promise<string | undefined> => {
    let token: string | undefined;
    await store.change(async (before) => {
      if (before === undefined) return undefined;
      const isOther = before.tokens.access_token !== refused && !isDue(before);
      const after = isOther ? before : await renewLogin(before, server, parts);
      token = after?.tokens.access_token;
      return after ?? before;
    });
    return token;
  };
  return {
    token: async () => {
      const login = store.read();
      if (login === undefined) return undefined;
      if (!isDue(login) || login.tokens.refresh_token === undefined) return login.tokens.access_token;
      return (await renew(login.tokens.access_token)) ?? login.tokens.access_token;
    },
    renew,
    requestScope: (wanted) => store.change(async (before) => before && { ...before, wanted }),
  };
}

export interface LoginParts {
  readonly store: LoginStore;
  readonly clock: Clock;
  /** Sends the requests. Default: the global `fetch`, which ignores proxies. */
  readonly fetch?: typeof fetch;
}

/** `undefined` if only a new login helps. */
async function renewLogin(
  login: Login,
  server: HttpServer,
  { clock, fetch: fetchFn = fetch }: LoginParts,
): Promise<Login | undefined> {
  const { refresh_token: refreshToken } = login.tokens;
  if (refreshToken === undefined) return undefined;
  try {
    const info = await discoverOAuthServerInfo(server.url, { fetchFn });
    if (login.issuer !== undefined && login.issuer !== info.authorizationServerUrl) return undefined;
    const resource = await selectResourceURL(server.url, {} as OAuthClientProvider, info.resourceMetadata);
    const tokens = await refreshAuthorization(info.authorizationServerUrl, {
      clientInformation: login.client,
      refreshToken,
      fetchFn,
      ...omitUndefined({ metadata: info.authorizationServerMetadata, resource }),
    });
    return loginOf(login, { refresh_token: refreshToken, ...tokens }, clock);
  } catch {
    // Refused or unreachable: the call then explains what to do.
    return undefined;
  }
}

function loginOf(
  { url, issuer, client }: Pick<Login, "url" | "issuer" | "client">,
  tokens: Login["tokens"] & { readonly expires_in?: number | undefined },
  clock: Clock,
): Login {
  const { expires_in: seconds } = tokens;
  return {
    url,
    ...omitUndefined({ issuer }),
    client,
    tokens,
    ...(seconds === undefined ? {} : { expiresAt: clock.now() + seconds * 1_000 }),
  };
}

export interface LogInOptions extends LoginParts {
  readonly show: (page: URL) => void;
  readonly signal: AbortSignal;
}

/** Logs in with OAuth 2.1 via a page on the loopback interface. Rejects with a {@link ConnectionError}. */
export async function logIn(server: HttpServer, options: LogInOptions): Promise<void> {
  const { signal, fetch: fetchFn = fetch } = options;
  const callback = await listenForCallback(server.oauth.callbackPort ?? 0);
  try {
    const flow = new LoginFlow(server, { ...options, redirectUrl: callback.url });
    const challenge = await fetchChallenge(server, signal, fetchFn);
    const request = {
      serverUrl: server.url,
      fetchFn,
      ...omitUndefined({ resourceMetadataUrl: challenge.resourceMetadataUrl }),
      ...scopeOf(server, options.store.read()?.wanted ?? challenge.scope),
    };
    if ((await auth(flow, request)) === "AUTHORIZED") return await flow.saveLogin();
    const answer = await callback.answer(signal);
    if (answer.get("state") !== flow.state())
      throw new ConnectionError("The answer belongs to another login.");
    const refusal = answer.get("error");
    if (refusal !== null)
      throw new ConnectionError(`The login was refused: ${answer.get("error_description") ?? refusal}.`);
    const [code, iss] = [answer.get("code") ?? "", answer.get("iss")];
    await auth(flow, { ...request, authorizationCode: code, ...(iss === null ? {} : { iss }) });
    await flow.saveLogin();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConnectionError) throw error;
    throw new ConnectionError(`The login did not work: ${errorMessage(error)}`);
  } finally {
    callback.close();
  }
}

function scopeOf({ oauth }: HttpServer, asked: string | undefined): { readonly scope?: string } {
  const scope = oauth.scope ?? asked;
  return scope === undefined ? {} : { scope };
}

async function fetchChallenge(
  { url, headers }: HttpServer,
  signal: AbortSignal,
  fetchFn: typeof fetch,
): Promise<Partial<ReturnType<typeof extractWWWAuthenticateParams>>> {
  const response = await fetchFn(url, {
    method: "POST",
    signal,
    redirect: "manual",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
  });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

class LoginFlow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #server: HttpServer;
  readonly #options: LogInOptions;
  readonly #state = randomBytes(16).toString("base64url");
  #client: Login["client"] | undefined;
  #tokens: Login["tokens"] | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  constructor(server: HttpServer, options: LogInOptions & { readonly redirectUrl: string }) {
    this.#server = server;
    this.#options = options;
    this.redirectUrl = options.redirectUrl;
    const { clientId, clientSecret } = server.oauth;
    if (clientId !== undefined)
      this.#client = {
        client_id: clientId,
        ...omitUndefined({ client_secret: clientSecret }),
      };
  }

  get clientMetadata() {
    const { scope } = this.#server.oauth;
    return {
      client_name: "nano-agent",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...omitUndefined({ scope }),
    };
  }

  readonly state = (): string => this.#state;
  readonly clientInformation = () => this.#client;
  readonly saveClientInformation = (client: Login["client"]): void => {
    this.#client = client;
  };
  readonly tokens = () => undefined;
  readonly saveTokens = (tokens: Login["tokens"]): void => {
    this.#tokens = tokens;
  };
  /** The address is untrusted: one that is not a web page could start a program on this machine. */
  readonly redirectToAuthorization = (page: URL): void => {
    if (page.protocol !== "https:" && page.protocol !== "http:")
      throw new ConnectionError(`The login page is at ${page.protocol}, which is not an address of the web.`);
    this.#options.show(page);
  };
  readonly saveCodeVerifier = (verifier: string): void => {
    this.#verifier = verifier;
  };
  readonly codeVerifier = (): string => this.#verifier;

  /** Saves what was discovered before the redirect until the person returns. */
  readonly saveDiscoveryState = (state: OAuthDiscoveryState): void => {
    this.#discovery = state;
  };
  readonly discoveryState = (): OAuthDiscoveryState | undefined => this.#discovery;

  async saveLogin(): Promise<void> {
    const { store, clock } = this.#options;
    const [client, tokens] = [this.#client, this.#tokens];
    if (client === undefined || tokens === undefined)
      throw new ConnectionError("The authorization server gave no token.");
    const issuer = this.#discovery?.authorizationServerUrl;
    const login = { url: this.#server.url, client, ...omitUndefined({ issuer }) };
    await store.change(async () => loginOf(login, tokens, clock));
  }
}

interface Callback {
  readonly url: string;
  readonly answer: (signal: AbortSignal) => Promise<URLSearchParams>;
  readonly close: () => void;
}

async function listenForCallback(port: number): Promise<Callback> {
  const arrived = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "/", "http://127.0.0.1");
    if (url?.pathname !== "/callback") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", connection: "close" });
    response.end(
      "<!doctype html><title>nano-agent</title><p>You can close this page and go back to the terminal.",
    );
    arrived.resolve(url.searchParams);
  });
  await listen(server, { host: "127.0.0.1", port });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}/callback`,
    answer: (signal) => raceAbort(arrived.promise, signal),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
