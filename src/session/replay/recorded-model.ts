import type { AssistantEntry } from "../../core/agent/entries.ts";
import type { NanoAgentError } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import type { Model, ModelRequest, StreamPart } from "../../core/model/model.ts";

/** Where the answers of a {@link recordedModel} come from. */
export interface RecordedAnswers {
  readonly provider: string;
  readonly id: string;
  /** The answer to a request. Throws where the record has none. */
  readonly next: (request: ModelRequest) => AssistantEntry;
  /** Aborts the run; called after the last part of an answer that was cut. */
  readonly interrupt: () => NanoAgentError;
}

/** A model that gives recorded answers again, whole blocks at a time. */
export function recordedModel({ provider, id, next, interrupt }: RecordedAnswers): Model {
  async function* stream(request: ModelRequest): AsyncGenerator<StreamPart, void, undefined> {
    const answer = next(request);
    let index = 0;
    for (const block of answer.message.content) yield { type: "block", index: index++, block };
    if (answer.interrupted === true) throw interrupt();
    const { finishReason, usage, responseId } = answer;
    yield {
      type: "finish",
      finishReason,
      usage,
      model: answer.model.slice(answer.model.indexOf("/") + 1),
      ...defined({ responseId }),
    };
  }
  return { provider, id, stream };
}
