import type { ErrorCode } from "../core/base/errors.ts";
import type { Fields } from "../core/base/json.ts";
import type { WireName } from "../core/message/message.ts";

/** Content of a vendor\'s error. `status` decides its type; without one, `code` decides the status. */
export interface VendorFault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status?: number;
}

/** The HTTP status a vendor reports an error of ours with. */
export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 500;
}

/** The body of an HTTP error as the vendor of this wire writes it. */
export function vendorError(wire: WireName, fault: VendorFault): Fields {
  if (wire === "anthropic") return { ...anthropicError(fault), request_id: "req_scripted" };
  return wire === "google" ? googleError(fault) : openAiError(fault);
}

/** An error as Anthropic writes it (https://docs.anthropic.com/en/api/errors), in streams too. */
export function anthropicError(fault: VendorFault): Fields {
  const type = ANTHROPIC[fault.status ?? statusOf(fault.code)] ?? "api_error";
  return { type: "error", error: { type, message: fault.message } };
}

/** An error as OpenAI writes it (https://platform.openai.com/docs/guides/error-codes). */
export function openAiError(fault: VendorFault): {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: null;
    readonly code: string | null;
  };
} {
  const status = fault.status ?? statusOf(fault.code);
  const [type, code] = OPENAI[status] ?? ["server_error", "server_error"];
  return {
    error: {
      message: fault.message,
      type,
      param: null,
      code: fault.code === "context_overflow" ? "context_length_exceeded" : code,
    },
  };
}

/** An error as Google writes it (https://google.aip.dev/193). */
export function googleError(fault: VendorFault): Fields {
  const code = fault.status ?? statusOf(fault.code);
  return { error: { code, message: fault.message, status: GOOGLE[code] ?? "INTERNAL" } };
}

const STATUS: { readonly [K in ErrorCode]?: number } = {
  bad_request: 400,
  context_overflow: 400,
  invalid_argument: 400,
  script_mismatch: 400,
  authentication: 401,
  missing_credentials: 401,
  unknown_model: 404,
  rate_limit: 429,
  provider_error: 500,
  timeout: 504,
};

const ANTHROPIC: { readonly [status: number]: string } = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const OPENAI: { readonly [status: number]: readonly [type: string, code: string | null] } = {
  400: ["invalid_request_error", null],
  401: ["invalid_request_error", "invalid_api_key"],
  403: ["invalid_request_error", "unsupported_country_region_territory"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
};

const GOOGLE: { readonly [status: number]: string } = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};
