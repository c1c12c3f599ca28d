import { createHash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { type FaultyHttp, startFaultyHttp } from "./faulty-server.ts";

/**
 * A scripted MCP server behind a real authorization server: discovery, registration, PKCE, tokens that end,
 * refresh tokens that count once.
 */
export interface GuardedServer extends FaultyHttp {
  /** Seconds that tokens hold from now on. At first 3,600. */
  readonly holdFor: (seconds: number) => void;
  /** Refuses every token given so far, refresh tokens not. */
  readonly expire: () => void;
  /** Forgets refresh tokens too. */
  readonly revoke: () => void;
  /** What was asked of the authorization server, in order. */
  readonly asked: string[];
}

interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** The authorization server: clients, codes, tokens. */
class Authority {
  readonly access = new Set<string>();
  readonly refresh = new Set<string>();
  readonly asked: string[] = [];
  seconds = 3_600;
  origin = "";
  readonly #clients = new Map<string, readonly string[]>();
  readonly #codes = new Map<string, Grant>();

  readonly pages: { readonly [path: string]: (response: ServerResponse, url: URL, body: string) => true } = {
    "/.well-known/oauth-protected-resource/mcp": (response) => json(response, this.#resource()),
    "/.well-known/oauth-authorization-server": (response) => json(response, this.#metadata()),
    "/register": (response, _url, body) => {
      const wanted = JSON.parse(body) as { readonly redirect_uris: readonly string[] };
      const id = randomUUID();
      this.#clients.set(id, wanted.redirect_uris);
      return json(response, { ...wanted, client_id: id }, 201);
    },
    "/authorize": (response, { searchParams }) => this.#authorize(response, searchParams),
    "/token": (response, _url, body) => this.#token(response, new URLSearchParams(body)),
  };

  #resource(): object {
    const { origin } = this;
    return { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ["tools"] };
  }

  #metadata(): object {
    const { origin } = this;
    return {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    };
  }

  #authorize(response: ServerResponse, query: URLSearchParams): true {
    const [clientId, redirectUri] = [query.get("client_id") ?? "", query.get("redirect_uri") ?? ""];
    const isKnown = this.#clients.get(clientId)?.includes(redirectUri) === true;
    if (!isKnown || query.get("code_challenge_method") !== "S256")
      return json(response, { error: "invalid_request" }, 400);
    const code = randomUUID();
    this.#codes.set(code, { clientId, redirectUri, challenge: query.get("code_challenge") ?? "" });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    response.writeHead(302, { location: back.href }).end();
    return true;
  }

  #token(response: ServerResponse, form: URLSearchParams): true {
    const field = (name: string): string => form.get(name) ?? "";
    this.asked.push(field("grant_type"));
    if (field("grant_type") === "refresh_token")
      return this.refresh.delete(field("refresh_token"))
        ? this.#give(response)
        : json(response, { error: "invalid_grant" }, 400);
    const grant = this.#codes.get(field("code"));
    this.#codes.delete(field("code"));
    const given: Grant = {
      clientId: field("client_id"),
      redirectUri: field("redirect_uri"),
      challenge: createHash("sha256").update(field("code_verifier")).digest("base64url"),
    };
    return JSON.stringify(grant) === JSON.stringify(given)
      ? this.#give(response)
      : json(response, { error: "invalid_grant" }, 400);
  }

  #give(response: ServerResponse): true {
    const [token, again] = [randomUUID(), randomUUID()];
    this.access.add(token);
    this.refresh.add(again);
    const { seconds } = this;
    return json(response, {
      access_token: token,
      token_type: "Bearer",
      expires_in: seconds,
      refresh_token: again,
    });
  }
}

function json(response: ServerResponse, value: object, status = 200): true {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  return true;
}

/** Starts the two in one; ended with the test. */
export async function startGuardedServer(): Promise<GuardedServer> {
  const authority = new Authority();
  const http = await startFaultyHttp({}, (request, response, body) => {
    const url = new URL(request.url ?? "/", authority.origin);
    const page = authority.pages[url.pathname];
    if (page !== undefined) return page(response, url, body);
    if (url.pathname !== "/mcp") return json(response, {}, 404);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token !== undefined && authority.access.has(token)) return false;
    const metadata = `${authority.origin}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer resource_metadata="${metadata}", scope="tools"`;
    response.writeHead(401, { "www-authenticate": challenge }).end();
    return true;
  });
  authority.origin = new URL(http.url).origin;
  onTestFinished(() => http.stop());
  const { access, refresh, asked } = authority;
  return {
    ...http,
    asked,
    holdFor: (seconds) => {
      authority.seconds = seconds;
    },
    expire: () => access.clear(),
    revoke: () => {
      access.clear();
      refresh.clear();
    },
  };
}
