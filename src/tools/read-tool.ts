import { type BigIntStats, statSync } from "node:fs";
import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";
import { systemCode } from "../system/system-error.ts";
import { answerFileErrors, describeNearestNames, FileRefusal } from "./files/file-error.ts";
import {
  type EditorText,
  type FilePort,
  FileState,
  type FileToolOptions,
  readFromPort,
  stampOf,
} from "./files/file-state.ts";
import { describeForm, imageTypeOf } from "./files/file-text.ts";
import { type OpenFile, openRegularFile, pinFolder } from "./files/open-file.ts";
import { listFolder, type Page, readPage } from "./files/read-page.ts";
import { resolvePath, resolvePermittedPath } from "./resolve-path.ts";

/**
 * The `read` tool. Text comes as numbered lines (a six-character number, a tab, the line without its line
 * end), 2,000 lines or 50 KB a page with a hint how to continue; lines over 2,000 characters are truncated.
 * PNG, JPEG, GIF and WebP files come as image blocks, folders as a list of entries. Only the page is read,
 * whatever the size of the file. FIFOs, sockets and devices are refused without waiting.
 */
export function createReadTool(options: FileToolOptions = {}): Tool {
  const state = options.state ?? new FileState();
  return defineTool({
    name: "read",
    description:
      "Reads a file (2,000 numbered lines or 50 KB from line offset on, or an image) or lists a folder.",
    parameters: PARAMETERS,
    readOnly: true,
    access: ({ path }, { cwd }) => ({ read: [resolvePath(path, { ...options, cwd: options.cwd ?? cwd })] }),
    execute: (input, context) =>
      answerFileErrors(input.path, context.signal, () => {
        const target = resolvePermittedPath(input.path, options, context);
        const page = {
          firstLine: Math.max(1, input.offset ?? 1),
          maxLines: Math.max(1, input.limit ?? MAX_LINES),
        };
        return readTarget({ target, givenPath: input.path, ...page, state, context, files: options.files });
      }),
  });
}

const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" }, offset: { type: "integer" }, limit: { type: "integer" } },
  required: ["path"],
} as const;

const MAX_LINES = 2000;
const MAX_PAGE_BYTES = 50 * 1024;
const MAX_FOLDER_ENTRIES = 1000;
/** Providers refuse images of more than 5 MB of base64. */
const MAX_IMAGE_BYTES = 3_750_000;

interface ReadRequest {
  readonly target: string;
  readonly givenPath: string;
  readonly firstLine: number;
  readonly maxLines: number;
  readonly state: FileState;
  readonly context: ToolContext;
  readonly files: FilePort | undefined;
}

async function readTarget(request: ReadRequest): Promise<ToolResult> {
  const { target, givenPath } = request;
  try {
    if (statSync(target).isDirectory()) return await readFolder(request);
    const file = openRegularFile(target, givenPath);
    try {
      return await readFile(file, request);
    } finally {
      file.close();
    }
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    // An editor may hold a new file that was never saved.
    const open = await readFromPort(request.files, target, request.context.signal);
    if (open !== undefined) return readOpenText(open, request);
    throw new FileRefusal(
      `${givenPath}: there is no such file or folder.${await describeNearestNames(target)}`,
    );
  }
}

async function readFolder(request: ReadRequest): Promise<ToolResult> {
  const { target, givenPath, firstLine: first, context } = request;
  const limit = Math.min(request.maxLines, MAX_FOLDER_ENTRIES);
  const folder = pinFolder(target, givenPath);
  const listing = listFolder(folder.selfPath, { first, limit, signal: context.signal });
  const { entries, total, isPartial } = await listing.finally(() => folder.close());
  const more = isPartial ? "more than " : "";
  const metadata = { path: target, entries: total };
  if (total === 0) return { content: `(${givenPath} is an empty folder)`, title: "empty folder", metadata };
  if (entries.length === 0)
    return errorResult(
      `${givenPath} has only ${pluralize(total, "entry", "entries")}: offset ${first} is past the end.`,
    );
  const last = first + entries.length - 1;
  const next = last < total ? ` Continue with offset ${last + 1}, or use glob.` : "";
  const note =
    first > 1 || last < total || isPartial ? [`[Entries ${first}-${last} of ${more}${total}.${next}]`] : [];
  return {
    content: [...entries, ...note].join("\n"),
    title: `${more}${pluralize(total, "entry", "entries")}`,
    metadata,
  };
}

async function readFile(file: OpenFile, request: ReadRequest): Promise<ToolResult> {
  const { state, context } = request;
  const stats = file.stat();
  const head = Buffer.alloc(12);
  const bytesRead = await file.read(head, 0, head.length, 0);
  const mediaType = imageTypeOf(head.subarray(0, bytesRead));
  if (mediaType !== undefined) return readImage(file, request, { stats, mediaType });
  const open = await readFromPort(request.files, request.target, context.signal);
  if (open !== undefined) return readOpenText(open, request);
  const page = await readPageOf(file, request);
  state.remember(context.transcriptId, request.target, stampOf(stats, page.content));
  return pageResult(page, request, stats.size);
}

async function readOpenText(open: EditorText, request: ReadRequest): Promise<ToolResult> {
  const { state, context } = request;
  const page = await readPageOf(open, request);
  state.remember(context.transcriptId, request.target, open.stamp);
  return pageResult(page, request, open.stamp.size);
}

function readPageOf(
  from: OpenFile | EditorText,
  { firstLine, maxLines, context }: ReadRequest,
): Promise<Page> {
  const limits = { maxLines: Math.min(maxLines, MAX_LINES), maxBytes: MAX_PAGE_BYTES };
  return readPage(from, { firstLine, ...limits, signal: context.signal });
}

async function readImage(
  file: OpenFile,
  request: ReadRequest,
  image: { readonly stats: BigIntStats; readonly mediaType: string },
): Promise<ToolResult> {
  const { stats, mediaType } = image;
  const description = `${request.givenPath}: ${mediaType}, ${stats.size} bytes`;
  if (stats.size > MAX_IMAGE_BYTES) {
    return errorResult(
      `${description}. Images over ${MAX_IMAGE_BYTES} bytes cannot be shown: make a smaller copy and read that.`,
    );
  }
  const data = Buffer.alloc(Number(stats.size));
  const bytesRead = await file.read(data, 0, data.length, 0);
  const content = data.subarray(0, bytesRead);
  request.state.remember(request.context.transcriptId, request.target, stampOf(stats, content));
  return {
    content: [
      { type: "text", text: description },
      { type: "image", source: { type: "base64", media_type: mediaType, data: content.toString("base64") } },
    ],
    title: mediaType,
    metadata: { path: request.target, bytes: bytesRead },
  };
}

function pageResult(page: Page, request: ReadRequest, size: bigint): ToolResult {
  const { givenPath, firstLine } = request;
  const metadata = { path: request.target, firstLine, lines: page.lines.length, bytes: Number(size) };
  if (page.encoding === "binary") {
    return {
      content: `(${givenPath} is a binary file of ${size} bytes: not shown)`,
      title: "binary",
      metadata,
    };
  }
  if (page.lines.length === 0) {
    if (page.lineCount === 0)
      return { content: `(${givenPath} is an empty file)`, title: "empty file", metadata };
    return errorResult(
      `${givenPath} has only ${pluralize(page.lineCount ?? 0, "line")}: offset ${firstLine} is past the end.`,
    );
  }
  const notes = [...notesOf(page), ...page.notes];
  if (page.nextLine !== undefined) {
    const last = firstLine + page.lines.length - 1;
    notes.push(
      `Lines ${firstLine}-${last} of a file of ${size} bytes. Continue with offset ${page.nextLine}.`,
    );
  }
  const footer = notes.length === 0 ? "" : `\n\n[${notes.join(" ")}]`;
  return {
    content: `${page.lines.join("\n")}${footer}`,
    title: pluralize(page.lines.length, "line"),
    metadata,
  };
}

/** UTF-8 with LF line ends needs no note. */
function notesOf({ encoding, form }: Page): readonly string[] {
  if (encoding === "binary") return [];
  if (encoding === "damaged") return ["Bytes that are not UTF-8 are shown as \uFFFD."];
  if (encoding === "utf-8" && !form.hasBom && form.crLf === "none") return [];
  return [`The file is ${describeForm({ encoding, ...form })}; edit and write keep that.`];
}
