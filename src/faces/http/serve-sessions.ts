import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { hostname } from "node:os";
import { extname, join } from "node:path";
import type { CodingSessionOptions } from "../../coding/session/coding-session.ts";
import type { Settings } from "../../coding/settings/settings.ts";
import { redactionFor } from "../../coding/setup/confine.ts";
import { systemClock } from "../../core/base/async.ts";
import { createHandler, type WebAsset } from "../../server/create-handler.ts";
import { fetchListener } from "../../system/fetch-listener.ts";
import { listen } from "../../system/listen.ts";
import { CodingHost } from "./coding-host.ts";

export interface ServeOptions {
  readonly settings: Settings;
  readonly session: CodingSessionOptions;
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** Default: generated. */
  readonly token?: string | undefined;
  readonly readOnly: boolean;
  readonly page: string;
  readonly onError: (error: unknown) => void;
}

export interface Serving {
  /** `http://127.0.0.1:4040/`. */
  readonly url: string;
  readonly token: string;
  /** Ends every run and every connection. */
  readonly close: () => Promise<void>;
}

/** Time for a complete request to arrive: a slow one occupies its connection. */
const REQUEST_MS = 30_000;
const CHECK_MS = 2_000;

/**
 * Serves sessions and the page. Throws `invalid_argument` if the port is taken or the host is not one of this
 * machine, and `journal` if the folder of the sessions cannot be read.
 */
export async function serveSessions(options: ServeOptions): Promise<Serving> {
  const { settings, session, port, host, readOnly, page, onError } = options;
  const token = options.token ?? randomBytes(24).toString("base64url");
  const ending = new AbortController();
  const redaction = redactionFor(settings.environment, settings.config.values);
  const sessions = new CodingHost({
    paths: settings.paths,
    session: { ...session, cwd: settings.cwd },
    undoLimits: settings.config.values.undoLimits,
    readOnly,
    clock: systemClock,
    redaction,
    onError,
  });
  const handler = createHandler({
    token,
    sessions,
    readOnly,
    hosts: namesOf(host),
    redaction,
    assets: webAssets(page),
    onError,
    signal: ending.signal,
  });
  sessions.stored.store.list();
  const server = createServer(
    { requestTimeout: REQUEST_MS, connectionsCheckingInterval: CHECK_MS },
    fetchListener(handler),
  );
  await listen(server, { host, port });
  void sessions.stored.index().catch(onError);
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${own}/`,
    token,
    close: async () => {
      server.close();
      const closing = sessions.close();
      ending.abort();
      await closing;
      server.closeAllConnections();
    },
  };
}

/** True for a loopback address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Accepted host names; for a server reachable by others also numeric addresses and the machine's name. */
function namesOf(host: string): readonly string[] {
  const own = isIP(host) === 6 ? `[${host}]` : host;
  return isLoopback(host) ? [own] : [own, "ip", hostname()];
}

const TYPES: { readonly [ending: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

/** The files of a page in a folder, by path: only those that existed at the first request. */
function webAssets(folder: string): (path: string) => Promise<WebAsset | undefined> {
  let names: ReadonlySet<string> | undefined;
  const assets = new Map<string, WebAsset>();
  return async (path) => {
    const name = path === "/" ? "index.html" : path.slice(1);
    names ??= namesIn(folder);
    if (!names.has(name)) return undefined;
    let asset = assets.get(name);
    if (asset === undefined) {
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      // Files the page refers to have names that change with their contents.
      const isImmutable = /[-.][\w-]{8,}\.\w+$/.test(name) && extname(name) !== ".html";
      assets.set(name, (asset = { bytes: readFileSync(join(folder, name)), type, isImmutable }));
    }
    return asset;
  };
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return new Set(
      entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) =>
          join(parentPath, name)
            .slice(folder.length + 1)
            .replaceAll("\\", "/"),
        ),
    );
  } catch {
    // Running from source, before a page was built.
    return new Set();
  }
}
