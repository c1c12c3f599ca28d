import { errorMessage, isNanoAgentError, misuse, NanoAgentError } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import type { HttpTimeouts } from "./http.ts";

/** The error for a request without an answer: host and system code. A typed error is kept as it is. */
export function networkError(url: string, cause: unknown): NanoAgentError {
  if (isNanoAgentError(cause)) return cause;
  const host = hostOf(url);
  const code = causeCode(cause);
  if (code !== undefined && BAD_HEADERS.has(code)) {
    return misuse(
      `The request to ${host} has a header that HTTP does not allow (${errorMessage(cause)}). Check the API key and the extra headers for line breaks, blanks and values that are missing.`,
      { cause, details: { host, cause: code } },
    );
  }
  const certificate = code !== undefined && isCertificateCode(code);
  return new NanoAgentError("network", explanation(host, code, cause), {
    cause,
    details: defined({ host, cause: code }),
    retryable: !certificate,
  });
}

/** Codes of the system for headers that it does not send, however often it is asked. */
const BAD_HEADERS: ReadonlySet<string> = new Set([
  "ERR_INVALID_CHAR",
  "ERR_INVALID_HTTP_TOKEN",
  "ERR_HTTP_INVALID_HEADER_VALUE",
]);

/** The error for an answer whose connection broke before the body was complete. */
export function cutError(url: string, cause?: unknown): NanoAgentError {
  const host = hostOf(url);
  const code = causeCode(cause);
  return new NanoAgentError(
    "network",
    `The connection to ${host} broke before the answer was complete${code === undefined ? "" : ` (${code})`}.`,
    { cause, details: defined({ host, cause: code }), retryable: true },
  );
}

/** The error for a limit of `HttpTimeouts` that was reached. */
export function timeoutError(url: string, limit: keyof HttpTimeouts, ms: number): NanoAgentError {
  const host = hostOf(url);
  const what = {
    headerTimeoutMs: `${host} did not begin to answer within ${ms} ms`,
    idleTimeoutMs: `${host} sent nothing new for ${ms} ms`,
    firstEventTimeoutMs: `${host} is alive, but did not begin its answer within ${ms} ms`,
    requestTimeoutMs: `${host} did not finish its answer within ${ms} ms`,
  }[limit];
  return new NanoAgentError("timeout", `${what}. Raise network.${limit} if the model needs longer.`, {
    details: { host, limit, ms },
    retryable: true,
  });
}

/** The error for a request that its caller aborted; the signal's reason becomes the cause. */
export function abortedError(signal: AbortSignal | undefined): NanoAgentError {
  return new NanoAgentError("aborted", "The model request was aborted.", { cause: signal?.reason });
}

/** Where a redirect leads. Throws where it is not followed: credentials stay with their host. */
export function redirectTarget(from: string, status: number, location: string | undefined): URL {
  const source = new URL(from);
  const target = location === undefined ? null : URL.parse(location, source.href);
  const refused = (to: string | undefined, why: string): NanoAgentError =>
    new NanoAgentError(
      "invalid_response",
      `${source.host} redirects the request (HTTP ${status}) to ${to ?? "nowhere"}; it was not followed, because ${why}. Set the base URL to the final address.`,
      { details: defined({ host: source.host, status, location: to }) },
    );
  if (target === null || status === 303)
    throw refused(location, "that is not an address a request can be sent to again");
  const isUpgraded =
    source.protocol === "http:" && target.protocol === "https:" && source.port === "" && target.port === "";
  if (target.hostname !== source.hostname || (!isUpgraded && target.origin !== source.origin))
    throw refused(target.origin, "credentials are never sent to another host");
  return target;
}

/** Host and port of an address, for messages; the text itself when it is no address. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

function explanation(host: string, code: string | undefined, cause: unknown): string {
  if (code === "ECONNREFUSED") {
    return `Nothing accepts connections at ${host} (ECONNREFUSED). Check the base URL, and that the server runs.`;
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `The host name of ${host} cannot be resolved (${code}). Check the base URL and the network connection.`;
  }
  if (code !== undefined && isCertificateCode(code)) {
    return `The certificate of ${host} was not accepted (${code}). Behind a proxy that inspects traffic, point NODE_EXTRA_CA_CERTS to its certificate.`;
  }
  const reason = code ?? errorMessage(cause);
  return `The connection to ${host} failed (${reason}). Check the network connection, the proxy settings and the base URL.`;
}

function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|ERR_TLS_/.test(code);
}

/** The `code` of a system error, also where fetch or a second address wraps it. */
function causeCode(error: unknown): string | undefined {
  for (
    let current = error, depth = 0;
    typeof current === "object" && current !== null && depth < 4;
    depth++
  ) {
    if ("code" in current && typeof current.code === "string") return current.code;
    if ("errors" in current && Array.isArray(current.errors) && current.errors.length > 0)
      current = current.errors[0];
    else current = "cause" in current ? current.cause : undefined;
  }
  return undefined;
}
