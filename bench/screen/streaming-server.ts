import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Writes an answer piece by piece with `write`; the answer ends when it resolves. */
export type Answer = (write: (text: string) => void) => Promise<void>;

/** A model on this machine that answers as it is told, over Chat Completions and over Responses. */
export class StreamingServer {
  /** What the next answers are. */
  answer: Answer = async (write) => write("An answer.");
  readonly #server = createServer();
  #replies = 0;

  constructor() {
    this.#server.on("request", (request, response) => {
      request.resume();
      request.once("end", () => void this.#reply(request.url ?? "", response));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #reply(path: string, response: ServerResponse): Promise<void> {
    if (!/\/(?:chat\/completions|responses)$/.test(path)) {
      response.writeHead(404).end("{}");
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: object): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (path.endsWith("/responses")) await this.#asResponse(send);
    else await this.#asChat(send);
    response.end("data: [DONE]\n\n");
  }

  async #asChat(send: (event: object) => void): Promise<void> {
    const choice = (delta: object, finish_reason: string | null): object => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    await this.answer((content) => send(choice({ content }, null)));
    send({ ...choice({}, "stop"), usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } });
  }

  async #asResponse(send: (event: object) => void): Promise<void> {
    const number = ++this.#replies;
    const id = `resp_${number}`;
    const item = { id: `msg_${number}`, type: "message", role: "assistant" };
    const place = { item_id: item.id, output_index: 0, content_index: 0 };
    let text = "";
    send({ type: "response.created", response: { id, status: "in_progress", output: [] } });
    send({
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    });
    await this.answer((delta) => {
      text += delta;
      send({ type: "response.output_text.delta", ...place, delta });
    });
    const done = { ...item, status: "completed", content: [{ type: "output_text", text, annotations: [] }] };
    send({ type: "response.output_item.done", output_index: 0, item: done });
    const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
    send({ type: "response.completed", response: { id, status: "completed", output: [done], usage } });
  }
}

/** Writes pieces at a rate for as long as the signal is not aborted; `onPiece` hears of each. */
export function steadily(
  piece: () => string,
  how: { readonly perSecond: number; readonly signal: AbortSignal; readonly onPiece: () => void },
): Answer {
  return async (write) => {
    const from = performance.now();
    for (let count = 0; !how.signal.aborted; await pause(2))
      for (; count < ((performance.now() - from) / 1_000) * how.perSecond; count++) {
        write(piece());
        how.onPiece();
      }
  };
}
