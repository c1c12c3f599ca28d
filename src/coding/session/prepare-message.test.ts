import fc from "fast-check";
import { expect, test } from "vitest";
import { messageText } from "../../core/message/message.ts";
import { mentionedResources } from "./prepare-message.ts";

const { signal } = new AbortController();

/** Reads a text of which a server `s` knows every resource but those that are gone. */
async function read(text: string) {
  const asked: string[] = [];
  const problems: string[] = [];
  const readResource = async (mention: string) => {
    asked.push(mention);
    if (!mention.startsWith("s:")) return undefined;
    if (mention.includes("gone")) throw new Error("no such thing");
    return [{ type: "text", text: `<${mention}>` }] as const;
  };
  const warn = (message: string): unknown => problems.push(message);
  const messages = await mentionedResources(text, { readResource }, signal, warn);
  return { asked, problems, texts: messages.map((message) => messageText(message)) };
}

test("what a text mentions is read once each, in order; what cannot be read is told", async () => {
  const text = 'See @s:doc://b, (@s:doc://a?x=1#y). "@s:doc://b" and @s:doc://gone! @other:doc://c';
  expect(await read(text)).toEqual({
    asked: ["s:doc://b", "s:doc://a?x=1#y", "s:doc://gone", "other:doc://c"],
    problems: ["The resource @s:doc://gone cannot be read: no such thing"],
    texts: ["<s:doc://b>", "<s:doc://a?x=1#y>"],
  });
});

test.each([
  "me@s:doc://a",
  "@s",
  "@s: doc",
  "@s:path/without/scheme",
  "@types/node:x:y",
  "s:doc://a",
  "@s:doc:",
])("%j mentions nothing", async (text) => {
  expect((await read(text)).asked).toEqual([]);
});

test("no text makes more than eight requests, and none fails", async () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("@s:doc://gone", "@o:x:y", " ", "."),
    fc.integer().map((number) => ` @s:doc://${number}`),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const { asked, texts, problems } = await read(pieces.join(""));
      expect([asked.length <= 8, texts.length + problems.length <= asked.length]).toEqual([true, true]);
    }),
  );
});

test("an abort while one is read ends the message, and no notice is made of it", async () => {
  const controller = new AbortController();
  const readResource = (): Promise<never> => {
    controller.abort(new Error("stopped"));
    return Promise.reject(new Error("aborted"));
  };
  const problems: string[] = [];
  const warn = (message: string): unknown => problems.push(message);
  await expect(mentionedResources("@s:doc://a", { readResource }, controller.signal, warn)).rejects.toThrow(
    "stopped",
  );
  expect(problems).toEqual([]);
});
