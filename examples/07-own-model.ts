// A model of your own is an object with a `stream` method. Another model can stand behind it, for when it
// fails.
//   node examples/07-own-model.ts [provider/model]
import {
  Agent,
  fallbackModel,
  type Model,
  type ModelRequest,
  messageText,
  NanoAgentError,
  type StreamPart,
} from "nano-agent";
import { resolveModel } from "nano-agent/providers";

/** Answers in capital letters, a word at a time. */
class ShoutingModel implements Model {
  readonly provider = "local";
  readonly id = "shout";

  async *stream({ messages }: ModelRequest): AsyncGenerator<StreamPart> {
    const last = messages.at(-1);
    const words = last === undefined ? [] : messageText(last).toUpperCase().split(" ");
    for (const word of words) yield { type: "text_delta", index: 0, text: `${word} ` };
    const usage = { inputTokens: words.length, outputTokens: words.length };
    yield { type: "finish", finishReason: { unified: "stop", raw: "done" }, usage };
  }
}

/** Fails as a provider would that is overloaded. */
const overloaded: Model = {
  provider: "far",
  id: "away",
  stream: () => ({
    [Symbol.asyncIterator]: () => ({
      next: () =>
        Promise.reject(
          new NanoAgentError("provider_error", "The provider is overloaded.", { retryable: true }),
        ),
    }),
  }),
};

// A name becomes a model with the key that `env` hands out: the library reads no variable by itself here.
const [, , name] = process.argv;
const first =
  name === undefined ? overloaded : resolveModel(name, { env: (variable) => process.env[variable] });
const agent = new Agent({ model: fallbackModel([first, new ShoutingModel()]) });

for await (const event of agent.stream("hello out there")) {
  if (event.type === "retry") console.log(`attempt ${event.attempt}: ${event.error.message}`);
  if (event.type === "text_delta") process.stdout.write(event.text);
}
console.log();
