import { createHash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { type FaultyHttp, startFaultyHttp } from "./faulty-server.ts";

/** A scripted MCP server behind a real authorization server: discovery, registration, PKCE, tokens that end, refresh tokens that count once. */
export interface GuardedServer extends FaultyHttp {
  /** Seconds that tokens hold from now on. Default 3,600. */
  seconds: number;
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

/** Starts the two in one; ended with the test. */
export async function startGuardedServer(): Promise<GuardedServer> {
  const clients = new Map<string, readonly string[]>();
  const codes = new Map<string, Grant>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  const asked: string[] = [];
  const state = { seconds: 3_600 };
  let origin = "";
  const json = (response: ServerResponse, value: object, status = 200): true => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    return true;
  };
  const tokens = (response: ServerResponse): true => {
    const [token, again] = [randomUUID(), randomUUID()];
    access.add(token);
    refresh.add(again);
    return json(response, {
      access_token: token,
      token_type: "Bearer",
      expires_in: state.seconds,
      refresh_token: again,
    });
  };
  const pages: { readonly [path: string]: (response: ServerResponse, url: URL, body: string) => true } = {
    "/.well-known/oauth-protected-resource/mcp": (response) =>
      json(response, {
        resource: `${origin}/mcp`,
        authorization_servers: [origin],
        scopes_supported: ["tools"],
      }),
    "/.well-known/oauth-authorization-server": (response) =>
      json(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      }),
    "/register": (response, _url, body) => {
      const wanted = JSON.parse(body) as { readonly redirect_uris: readonly string[] };
      const id = randomUUID();
      clients.set(id, wanted.redirect_uris);
      return json(response, { ...wanted, client_id: id }, 201);
    },
    "/authorize": (response, { searchParams: query }) => {
      const [clientId, redirectUri] = [query.get("client_id") ?? "", query.get("redirect_uri") ?? ""];
      if (
        clients.get(clientId)?.includes(redirectUri) !== true ||
        query.get("code_challenge_method") !== "S256"
      )
        return json(response, { error: "invalid_request" }, 400);
      const code = randomUUID();
      codes.set(code, { clientId, redirectUri, challenge: query.get("code_challenge") ?? "" });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", query.get("state") ?? "");
      response.writeHead(302, { location: back.href }).end();
      return true;
    },
    "/token": (response, _url, body) => {
      const form = new URLSearchParams(body);
      asked.push(form.get("grant_type") ?? "");
      if (form.get("grant_type") === "refresh_token")
        return refresh.delete(form.get("refresh_token") ?? "")
          ? tokens(response)
          : json(response, { error: "invalid_grant" }, 400);
      const grant = codes.get(form.get("code") ?? "");
      codes.delete(form.get("code") ?? "");
      const challenge = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      const isRight =
        grant?.challenge === challenge &&
        grant.clientId === form.get("client_id") &&
        grant.redirectUri === form.get("redirect_uri");
      return isRight ? tokens(response) : json(response, { error: "invalid_grant" }, 400);
    },
  };
  const http = await startFaultyHttp({}, (request, response, body) => {
    const url = new URL(request.url ?? "/", origin);
    const page = pages[url.pathname];
    if (page !== undefined) return page(response, url, body);
    if (url.pathname !== "/mcp") return json(response, {}, 404);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token !== undefined && access.has(token)) return false;
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    response
      .writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}", scope="tools"` })
      .end();
    return true;
  });
  origin = new URL(http.url).origin;
  onTestFinished(() => http.stop());
  return Object.assign(state, http, {
    asked,
    expire: () => access.clear(),
    revoke: () => {
      access.clear();
      refresh.clear();
    },
  });
}
