import { type ErrorCode, errorMessage, isNanoAgentError, NanoAgentError } from "../../core/base/errors.ts";
import { isRecord, ownValue } from "../../core/base/json.ts";
import { answerError, changedError, redact, reportedError, wordsOf } from "../provider-errors.ts";
import type { WireTarget } from "../wire.ts";

/**
 * The typed error for whatever an AI SDK model threw or streamed as an `error` chunk: `APICallError` by its
 * status, headers and body, the SDK's other errors by name, a plain object by the vendors' own words. A break
 * of the connection is `network`.
 */
export function aiSdkError(
  error: unknown,
  model: { readonly provider: string; readonly modelId: string },
): NanoAgentError {
  if (isNanoAgentError(error)) return error;
  const target: WireTarget = { provider: model.provider, modelId: model.modelId, baseUrl: baseUrlOf(error) };
  if (error instanceof Error && isRecord(error)) return fromError(error, target);
  if (isRecord(error))
    return reportedError(wordsOf(isRecord(error["error"]) ? error : { error }), { target });
  return reportedError({ message: errorMessage(error) }, { target });
}

/** Errors by name. Source: the `errors` folder of `@ai-sdk/provider`, versions 3 and 4. */
const BY_NAME: { readonly [name: string]: { readonly code: ErrorCode; readonly retryable: boolean } } = {
  AI_LoadAPIKeyError: { code: "missing_credentials", retryable: false },
  AI_LoadSettingError: { code: "invalid_config", retryable: false },
  AI_NoSuchModelError: { code: "unknown_model", retryable: false },
  AI_InvalidArgumentError: { code: "bad_request", retryable: false },
  AI_InvalidPromptError: { code: "bad_request", retryable: false },
  AI_UnsupportedFunctionalityError: { code: "bad_request", retryable: false },
  AI_EmptyResponseBodyError: { code: "invalid_response", retryable: true },
  AI_InvalidResponseDataError: { code: "invalid_response", retryable: true },
  AI_JSONParseError: { code: "invalid_response", retryable: true },
  AI_NoContentGeneratedError: { code: "invalid_response", retryable: true },
  AI_TypeValidationError: { code: "invalid_response", retryable: true },
};

function fromError(error: Error & { readonly [key: string]: unknown }, target: WireTarget): NanoAgentError {
  const status = error["statusCode"];
  const message = redact(`${target.provider}: ${errorMessage(error)}`);
  if (typeof status === "number" && status >= 300) {
    const body = error["responseBody"];
    const given = typeof body === "string" && body !== "" ? body : JSON.stringify({ message: error.message });
    const answer = { status, headers: headersOf(error["responseHeaders"]), body: given, target };
    return changedError(answerError(answer), { cause: error });
  }
  const known = ownValue(BY_NAME, error.name);
  if (known !== undefined)
    return new NanoAgentError(known.code, message, { retryable: known.retryable, cause: error });
  if (error.name === "AI_APICallError") {
    const code = typeof status === "number" ? "invalid_response" : "network";
    return new NanoAgentError(code, message, {
      retryable: error["isRetryable"] === true || code === "invalid_response",
      cause: error,
    });
  }
  return new NanoAgentError(isBrokenConnection(error) ? "network" : "provider_error", message, {
    retryable: isBrokenConnection(error),
    cause: error,
  });
}

/** `fetch` reports a `TypeError`, Node's sockets a code, both also one level down. */
function isBrokenConnection(error: Error): boolean {
  const codes = [error, error.cause].map((one) => (isRecord(one) ? one["code"] : undefined));
  return (
    error instanceof TypeError ||
    error.name === "AbortError" ||
    codes.some((code) => /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(String(code)))
  );
}

function headersOf(headers: unknown): { readonly [name: string]: string | undefined } {
  if (!isRecord(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

function baseUrlOf(error: unknown): string {
  const url = isRecord(error) && typeof error["url"] === "string" ? URL.parse(error["url"]) : null;
  return url === null ? "of the model" : `${url.origin}${url.pathname}`;
}
