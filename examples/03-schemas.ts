// Zod schemas for tools, and a typed value instead of text as the answer. Any Standard Schema library works,
// and plain JSON Schema.
//   npm install zod && node examples/03-schemas.ts [provider/model]
import { Agent, defineTool } from "nano-agent";
import { calls, ScriptedModel } from "nano-agent/testing";
import * as z from "zod";

const PRICES: { readonly [sku: string]: number } = { lamp: 39, desk: 240 };

const price = defineTool({
  name: "price",
  description: "The price of an article in euros.",
  parameters: z.object({
    sku: z.string().describe("e.g. lamp"),
    pieces: z.number().int().positive().default(1),
  }),
  execute: ({ sku, pieces }) => {
    const each = PRICES[sku];
    // What a tool throws becomes an error result: the model reads it and can do better.
    if (each === undefined)
      throw new Error(`There is no article "${sku}". Known: ${Object.keys(PRICES).join(", ")}.`);
    return { sku, pieces, total: each * pieces };
  },
});

const Order = z.object({
  lines: z.array(z.object({ sku: z.string(), pieces: z.number() })),
  total: z.number(),
});

// The script makes the mistakes models make: a name that is not there, then a number as text.
const order = {
  lines: [
    { sku: "lamp", pieces: 2 },
    { sku: "desk", pieces: 1 },
  ],
  total: 318,
};
const script = [
  [calls("price", { sku: "lamps", pieces: 2 }), calls("price", { sku: "desk" })],
  calls("price", { sku: "lamp", pieces: 2 }),
  calls("finish", { ...order, total: "about 318" }),
  calls("finish", order),
];
const model = process.argv[2] ?? new ScriptedModel(script);

const agent = new Agent({ model, tools: [price] });
const question = "Two lamps and a desk, please: what is the order?";
const { output, stopReason, messages } = await agent.runOrThrow(question, { schema: Order });

for (const { content } of messages) {
  for (const block of content) {
    if (block.type === "tool_result" && block.is_error === true)
      console.log("the model was told:", block.content);
  }
}
console.log(stopReason, output.total, output.lines.map(({ sku, pieces }) => `${pieces} × ${sku}`).join(", "));
