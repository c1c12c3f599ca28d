import { isNanoAgentError, type NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { SESSION_REASONS, withoutSessionHint } from "../session/session-error.ts";
import { rootSystemCode } from "../system/system-error.ts";
import type { Problem } from "./server-api.ts";

const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  507: "Insufficient Storage",
} as const;

export type RefusalStatus = keyof typeof TITLES;

export interface RefusalOptions {
  /** With 409: actions that the state allows. */
  readonly fits?: readonly string[];
  readonly headers?: { readonly [name: string]: string };
  readonly cause?: unknown;
}

/** Thrown to refuse a request; becomes the answer. */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly code: string;
  readonly options: RefusalOptions;

  constructor(status: RefusalStatus, code: string, detail: string, options: RefusalOptions = {}) {
    super(detail, { cause: options.cause });
    this.status = status;
    this.code = code;
    this.options = options;
  }

  get problem(): Problem {
    const { fits } = this.options;
    const own = { title: TITLES[this.status], status: this.status, detail: this.message, code: this.code };
    return { type: "about:blank", ...own, ...(fits === undefined ? {} : { fits }) };
  }
}

export function notFound(what: string): Refusal {
  return new Refusal(404, "not_found", `There is no ${what}.`);
}

/** The request does not fit the state; `fits` lists what would. */
export function conflict(detail: string, fits: readonly string[], code = "conflict"): Refusal {
  return new Refusal(409, code, detail, { fits });
}

export function badRequest(detail: string, code = "invalid_request"): Refusal {
  return new Refusal(400, code, detail);
}

/** The refusal for an error. Unexpected errors do not reveal their message. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!isNanoAgentError(error))
    return new Refusal(500, "internal", "The server failed at this request.", { cause: error });
  const { code, message } = toNanoAgentError(error);
  if (code === "journal") return journalRefusal(error);
  if (code === "missing_credentials" || code === "authentication")
    return new Refusal(409, code, message, { cause: error });
  if (REQUEST_ERROR_CODES.has(code)) return new Refusal(400, code, message, { cause: error });
  return new Refusal(500, code, message, { cause: error });
}

/** A session in use elsewhere can be copied; a disk error would hit a copy too. */
function journalRefusal(error: NanoAgentError): Refusal {
  // A server has no --no-session.
  const detail = withoutSessionHint(error.message);
  const reported = error.details["reason"];
  if (reported === SESSION_REASONS.unreadable) return new Refusal(500, "journal", detail, { cause: error });
  const reason = rootSystemCode(error);
  // A link is not a session file.
  if (reason === undefined || reason === "ELOOP" || !/^E[A-Z0-9]+$/.test(reason)) {
    const fits = reported === SESSION_REASONS.inUse ? ["fork"] : [];
    return new Refusal(409, "journal", detail, { cause: error, fits });
  }
  if (reason === "ENOENT") return new Refusal(404, "not_found", detail, { cause: error });
  return new Refusal(UNWRITABLE_CODES.has(reason) ? 507 : 500, "journal", detail, { cause: error });
}

const UNWRITABLE_CODES: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EROFS",
  "EACCES",
  "EPERM",
]);

const REQUEST_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_argument",
  "invalid_config",
  "unknown_provider",
  "unknown_model",
]);
