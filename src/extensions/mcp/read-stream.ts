import { type RequestId, readMessages } from "./read-message.ts";

/**
 * Passes a stream of server-sent events on, each message in it as {@link readMessages} reads it. What is no
 * message stays as it is.
 */
export function readStream(openId: RequestId | undefined): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  let data: string[] = [];
  const passed = (line: string): string => {
    if (line.startsWith("data:")) {
      data.push(line.slice(line[5] === " " ? 6 : 5));
      return "";
    }
    if (line !== "" || data.length === 0) return `${line}\n`;
    const text = data.join("\n");
    const isTold = readMessages(text, openId);
    const events = isTold.length === 0 ? [`data: ${data.join("\ndata: ")}\n\n`] : isTold.map(eventOf);
    data = [];
    return events.join("");
  };
  const take = (text: string): string => {
    // A carriage return at the end may be the first half of a line's end.
    const lines = `${rest}${text}`.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    return lines.map(passed).join("");
  };
  return new TransformStream({
    transform: (chunk, controller) =>
      controller.enqueue(encoder.encode(take(decoder.decode(chunk, { stream: true })))),
    flush: (controller) => controller.enqueue(encoder.encode(take(`${decoder.decode()}\n`) + rest)),
  });
}

function eventOf(message: object): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}
