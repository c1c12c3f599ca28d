import { recordedError, toNanoAgentError } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import type { Model, ModelRequest, StreamPart } from "../core/model/model.ts";
import { type Cassette, type CassetteExchange, recordedPart, recordedRequest } from "./cassette.ts";

/** Where a recording goes. */
export interface RecordModelOptions {
  readonly cassette: Cassette;
}

/** The model, with every exchange recorded: answers, failures, answers whose reader left. */
export function recordModel(model: Model, options: RecordModelOptions): Model {
  const { cassette } = options;
  cassette.provider = model.provider;
  cassette.model = model.id;
  return {
    provider: model.provider,
    id: model.id,
    ...defined({ info: model.info }),
    stream: (request, callOptions) => recorded(model.stream(request, callOptions), { request, cassette }),
  };
}

async function* recorded(
  answer: AsyncIterable<StreamPart>,
  { request, cassette }: { readonly request: ModelRequest; readonly cassette: Cassette },
): AsyncGenerator<StreamPart, void, undefined> {
  const parts: ReturnType<typeof recordedPart>[] = [];
  const exchange: CassetteExchange = { ...recordedRequest(request), parts };
  const at = cassette.exchanges.push(exchange) - 1;
  try {
    for await (const part of answer) {
      parts.push(recordedPart(part));
      yield part;
    }
  } catch (error) {
    cassette.exchanges[at] = { ...exchange, error: recordedError(toNanoAgentError(error)) };
    throw error;
  }
}
