import { expect, test } from "vitest";
import { NanoAgentError } from "../core/base/errors.ts";
import { assistantMessage, type ImageBlock, type Message, userMessage } from "../core/message/message.ts";
import { reportedError } from "./provider-errors.ts";
import { Refusals } from "./refusals.ts";

const image = (data: string): ImageBlock => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data },
});
const NOTE = { type: "text", text: "[An image was left out here: this model does not take it.]" };
const shot = (data: string): Message => ({
  role: "user",
  content: [
    { type: "tool_result", tool_use_id: "c", content: [image(data), { type: "text", text: "seen" }] },
  ],
});

/** Words of a vendor, as their status and words become an error here. */
function refusal(status: number, message: string): NanoAgentError {
  return reportedError({ message }, { status });
}

const GOES_ON = "The request continues without the image.";

test.each([
  [500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
  [400, "Invalid content type. image_url is only supported by certain models."],
  [404, "No endpoints found that support image input"],
  [
    400,
    "Failed to deserialize the JSON body into the target type: unknown variant `image_url`, expected `text`",
  ],
  [400, "messages[0].content must be a string"],
  [400, "At most 0 image(s) may be provided in one request."],
  [400, "Qwen/Qwen3-8B is not a multimodal model"],
  [400, "Model does not support images. Please use a model that does."],
  [400, "Image input modality is not enabled for models/gemma-3-1b-it"],
  [400, "messages.2.content.1.image.source.base64: image exceeds 5 MB maximum"],
  [422, "Could not process image"],
])("%i %s: the next request goes without the image", (status, words) => {
  const images = new Refusals([], false);
  const request = { messages: [userMessage([image("a"), { type: "text", text: "What is it?" }])] };
  expect(images.learn(request, refusal(status, words))).toBe(GOES_ON);
  expect(images.withoutRefused(request).messages[0]?.content).toEqual([
    NOTE,
    { type: "text", text: "What is it?" },
  ]);
});

test.each([
  [400, "max_tokens is too large"],
  [429, "too many requests for this image model"],
  [401, "invalid key"],
])("%i %s is about something else", (status, words) => {
  const images = new Refusals([], false);
  const request = { messages: [userMessage([image("a")])] };
  expect(images.learn(request, refusal(status, words))).toBeUndefined();
  expect(images.withoutRefused(request)).toBe(request);
});

test("images the model has answered to stay; when it refuses again they go too", () => {
  const images = new Refusals([], false);
  const [old, fresh] = [shot("old"), shot("new")];
  const request = { messages: [old, assistantMessage("I see."), fresh] };
  const no = refusal(400, "image too large");
  const left = (): readonly boolean[] =>
    images.withoutRefused(request).messages.map((message) => JSON.stringify(message).includes("left out"));
  expect([images.learn(request, no), left()]).toEqual([GOES_ON, [false, false, true]]);
  expect([images.learn(images.withoutRefused(request), no), left()]).toEqual([GOES_ON, [true, false, true]]);
  expect(images.learn(images.withoutRefused(request), no)).toBeUndefined();
});

test("a model that is known to take none is sent none, and each message is the same object every time", () => {
  const images = new Refusals([], true);
  const request = { messages: [userMessage("hi"), shot("a")] };
  const first = images.withoutRefused(request).messages;
  const second = images.withoutRefused(request).messages;
  expect(JSON.stringify(first)).not.toContain("base64");
  expect([second[0] === request.messages[0], second[1] === first[1]]).toEqual([true, true]);
  expect(images.learn({ messages: first }, new NanoAgentError("bad_request", "no image"))).toBeUndefined();
});
