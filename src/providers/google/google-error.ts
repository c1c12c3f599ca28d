import type { ErrorCode, NanoAgentError } from "../../core/base/errors.ts";
import { type Fields, isRecord, safeParse } from "../../core/base/json.ts";
import { answerError, changedError, reportedError, wordsOf } from "../provider-errors.ts";
import type { WireErrorAnswer, WireTarget } from "../wire.ts";
import type { GoogleStatus } from "./google-json.ts";

/**
 * The typed error for an answer of the Gemini API that is not 2xx. The body is `{ error }`, or a list with
 * one such object. Beside what every vendor shares: a bad key is HTTP 400 with the reason `API_KEY_INVALID`
 * here and becomes `authentication`; a request over the size limit becomes `context_overflow`; a quota
 * counted by the day is not retryable.
 */
export function googleError(answer: WireErrorAnswer): NanoAgentError {
  const error = answerError(answer);
  const parsed = safeParse(answer.body);
  const root: unknown =
    parsed.ok && Array.isArray(parsed.value) ? parsed.value[0] : parsed.ok ? parsed.value : undefined;
  return isRecord(root) && isRecord(root["error"]) ? refined(error, root["error"]) : error;
}

/** The typed error for a `google.rpc.Status` that came inside the stream. */
export function googleStreamError(status: GoogleStatus, target: WireTarget): NanoAgentError {
  return refined(reportedError(wordsOf({ error: status }), { target }), status);
}

function refined(error: NanoAgentError, status: GoogleStatus): NanoAgentError {
  const details = Array.isArray(status.details) ? status.details.filter(isRecord) : [];
  const text = typeof status.message === "string" ? status.message : "";
  if (
    details.some(({ reason }) => typeof reason === "string" && reason.startsWith("API_KEY_")) ||
    /api[ _]key not (?:valid|found)/i.test(text)
  ) {
    return recoded(error, "authentication", "Check the API key.");
  }
  if (/payload size exceeds/i.test(text))
    return recoded(error, "context_overflow", "Shorten the conversation or send fewer images.");
  if (error.code === "rate_limit" && details.some(isDailyQuota)) {
    return recoded(
      error,
      "rate_limit",
      "This quota is counted by the day: try again tomorrow, or use another model or plan.",
    );
  }
  return error;
}

function isDailyQuota(detail: Fields): boolean {
  const { violations } = detail;
  return (
    Array.isArray(violations) &&
    violations.some((one) => isRecord(one) && /PerDay/.test(String(one["quotaId"])))
  );
}

/** The same failure under another code, final. */
function recoded(error: NanoAgentError, code: ErrorCode, advice: string): NanoAgentError {
  return changedError(error, { code, message: `${error.message} ${advice}`, retryable: false });
}
