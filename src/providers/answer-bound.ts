import { NanoAgentError } from "../core/base/errors.ts";
import type { StreamPart } from "../core/model/model.ts";

/** How much one answer may hold. */
export interface AnswerBound {
  readonly maxAnswerChars: number;
  readonly provider: string;
  /** Stands before the name of the limit where a person sets it. Default `network.`. */
  readonly prefix?: string;
}

/** Passes parts on as long as they hold no more than an answer may; then throws `invalid_response`. */
export function boundedParts(
  onPart: (part: StreamPart) => void,
  { maxAnswerChars, provider, prefix = "network." }: AnswerBound,
): (part: StreamPart) => void {
  let chars = 0;
  return (part) => {
    chars += lengthOf(part);
    if (chars > maxAnswerChars)
      throw new NanoAgentError(
        "invalid_response",
        `The answer of ${provider} is longer than ${maxAnswerChars} characters, so the request was ended. Set maxOutputTokens, or raise ${prefix}maxAnswerChars if it is to be that long.`,
        { details: { provider, maxAnswerChars } },
      );
    onPart(part);
  };
}

/** The characters a part adds. Blocks repeat what their deltas said, or are bounded as an event. */
function lengthOf(part: StreamPart): number {
  if (part.type === "text_delta" || part.type === "thinking_delta") return part.text.length;
  return part.type === "tool_call_delta" ? part.json.length : 0;
}
