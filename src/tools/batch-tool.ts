import { Buffer } from "node:buffer";
import { errorMessage } from "../core/base/errors.ts";
import { isRecord, omitUndefined } from "../core/base/json.ts";
import { pluralize, truncateMiddle } from "../core/base/text.ts";
import { type ImageBlock, type TextBlock, textOf } from "../core/message/message.ts";
import {
  defineTool,
  type Tool,
  type ToolAccess,
  type ToolContext,
  type ToolResult,
} from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";

const NAME = "batch";
const MAX_CALLS = 10;
const MAX_BYTES = 48_000;
/** Longer than any of the calls takes to end after an abort, so that the batch can report them all. */
const ABORT_GRACE_MS = 8000;

export interface BatchCall {
  readonly tool: string;
  readonly input: unknown;
}

export interface BatchInput {
  readonly calls: readonly BatchCall[];
}

interface BatchAnswer {
  readonly result: ToolResult;
  readonly durationMs: number;
}

/**
 * The `batch` tool: one to ten calls in one. Each goes through `context.callTool`, so permission, hooks,
 * limits and journal apply as to any other call; calls that conflict run in order, the rest together (see
 * `callTool`). The batch itself touches what its calls touch. It is an error only if every call failed.
 * Results that are too long together are truncated to fair shares.
 */
export function createBatchTool(): Tool {
  return defineTool({
    name: NAME,
    description: "Runs up to 10 tool calls that need none of each other's results.",
    parameters: {
      type: "object",
      properties: {
        calls: {
          type: "array",
          items: {
            type: "object",
            properties: { tool: { type: "string" }, input: { type: "object" } },
            required: ["tool", "input"],
          },
        },
      },
      required: ["calls"],
    },
    timeoutMs: 0,
    abortGraceMs: ABORT_GRACE_MS,
    changesFiles: false,
    access: ({ calls }: BatchInput, { accessOf }) =>
      joinAccess(calls.map(({ tool, input }) => (isRecord(input) ? accessOf(tool, input) : "none"))),
    execute: runBatch,
  });
}

async function runBatch({ calls }: BatchInput, context: ToolContext): Promise<ToolResult> {
  if (!Array.isArray(calls) || calls.length === 0) return errorResult("calls is empty; pass 1 to 10 calls.");
  if (calls.length > MAX_CALLS) {
    return errorResult(`${calls.length} calls in one batch; pass at most ${MAX_CALLS}. Nothing was run.`);
  }
  const answers = await Promise.all(calls.map((call) => runCall(call, context)));
  return batchResult(calls, answers);
}

async function runCall({ tool, input }: BatchCall, context: ToolContext): Promise<BatchAnswer> {
  const startedAt = performance.now();
  const result = await resultOf(tool, input, context).catch((error: unknown) =>
    errorResult(errorMessage(error)),
  );
  return { result, durationMs: Math.round(performance.now() - startedAt) };
}

async function resultOf(tool: string, input: unknown, context: ToolContext): Promise<ToolResult> {
  if (tool === NAME) return errorResult("A batch cannot hold a batch; put its calls into this one.");
  if (!isRecord(input)) return errorResult(`input of ${tool} is not an object; pass its arguments as one.`);
  if (context.signal.aborted) return errorResult("Not run: the run was aborted.");
  return context.callTool(tool, input);
}

function batchResult(calls: readonly BatchCall[], answers: readonly BatchAnswer[]): ToolResult {
  const failed = answers.filter(({ result }) => result.isError === true).length;
  const texts = shareBytes(
    answers.map(({ result }) => textOf(result.content, "\n")),
    MAX_BYTES,
  );
  const title = `${answers.length - failed} of ${pluralize(answers.length, "call")} succeeded`;
  const blocks = answers.flatMap(({ result, durationMs }, index): (TextBlock | ImageBlock)[] => {
    const status = result.isError === true ? "failed" : "ok";
    const head = `[${index + 1}. ${calls[index]?.tool ?? "?"}: ${status}, ${durationMs} ms]`;
    return [{ type: "text", text: `${head}\n${texts[index] ?? ""}` }, ...imagesOf(result)];
  });
  const finish = answers.find(({ result }) => result.finish !== undefined && result.isError !== true)?.result
    .finish;
  return {
    content: joinTexts([{ type: "text", text: `${title}.` }, ...blocks]),
    isError: failed === answers.length,
    title,
    essence: JSON.stringify(answers.map(({ result }) => result.essence ?? result.content)),
    metadata: {
      calls: answers.map(({ result, durationMs }, index) => ({
        tool: calls[index]?.tool,
        ok: result.isError !== true,
        durationMs,
      })),
    },
    ...omitUndefined({ finish }),
  };
}

function imagesOf({ content }: ToolResult): readonly ImageBlock[] {
  return typeof content === "string" ? [] : content.filter((block) => block.type === "image");
}

function joinTexts(blocks: readonly (TextBlock | ImageBlock)[]): ToolResult["content"] {
  const joined: (TextBlock | ImageBlock)[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.type === "text" && last?.type === "text") {
      joined[joined.length - 1] = { type: "text", text: `${last.text}\n\n${block.text}` };
    } else joined.push(block);
  }
  const [first] = joined;
  return joined.length === 1 && first?.type === "text" ? first.text : joined;
}

function joinAccess(all: readonly ToolAccess[]): ToolAccess {
  if (all.includes("exclusive")) return "exclusive";
  const lists = all.filter((access) => typeof access !== "string");
  const write = lists.flatMap((access) => access.write ?? []);
  if (all.includes("read_all")) return write.length === 0 ? "read_all" : "exclusive";
  const read = lists.flatMap((access) => access.read ?? []);
  return read.length === 0 && write.length === 0 ? "none" : { read, write };
}

const HINT = "\n[Make this call alone to see all of it.]";

/** Keeps short texts whole and gives long ones equal shares: head and tail, with a note. */
export function shareBytes(texts: readonly string[], maxBytes: number): readonly string[] {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const share = fairShare(sizes, maxBytes);
  return texts.map((text, index) =>
    (sizes[index] ?? 0) <= share
      ? text
      : truncateMiddle(text, { maxBytes: Math.max(0, share - HINT.length) }) + HINT,
  );
}

/** The largest limit at which the sum still fits. */
function fairShare(sizes: readonly number[], maxBytes: number): number {
  let remaining = maxBytes;
  let left = sizes.length;
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > remaining / left) return Math.floor(remaining / left);
    remaining -= size;
    left--;
  }
  return maxBytes;
}
