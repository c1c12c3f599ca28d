import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { OutputBuffer, type OutputFile } from "./output-buffer.ts";

const LIMITS = { headBytes: 20, tailBytes: 40, fileBytes: 10_000 };

function opener(folder: string): () => Promise<OutputFile> {
  let count = 0;
  return async () => {
    const path = join(folder, `out-${count++}.txt`);
    return { path, handle: await open(path, "ax") };
  };
}

const noFile = (): Promise<OutputFile> => Promise.reject(new Error("disk full"));

async function fill(buffer: OutputBuffer, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await buffer.write(new TextEncoder().encode(text)).stored;
}

describe("an output buffer", () => {
  test("shows short output whole and needs no file", async () => {
    const buffer = new OutputBuffer(LIMITS, noFile);
    await fill(buffer, "one\n", "two");
    await buffer.end();
    expect(await buffer.readNew()).toEqual({ text: "one\ntwo", totalBytes: 7, omittedBytes: 0 });
  });

  test("shows head and tail of long output in whole lines and keeps the full text in a file", async () => {
    const folder = tempFolder();
    const buffer = new OutputBuffer(LIMITS, opener(folder));
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 10}\n`);
    await fill(buffer, ...lines);
    await buffer.end();
    const path = join(folder, "out-0.txt");
    const output = await buffer.readNew();
    expect([output, await readFile(path, "utf8")]).toEqual([
      {
        text: `line 10\nline 11\n[184 of 240 bytes left out here; the full text is in ${path}]\nline 35\nline 36\nline 37\nline 38\nline 39\n`,
        totalBytes: 240,
        omittedBytes: 184,
        path,
      },
      lines.join(""),
    ]);
  });

  test("stops filling the file at its limit, says so, and goes on with the tail", async () => {
    const folder = tempFolder();
    const buffer = new OutputBuffer({ ...LIMITS, fileBytes: 100 }, opener(folder));
    await fill(buffer, "012345678\n".repeat(20), "the end.\n");
    await buffer.end();
    const path = join(folder, "out-0.txt");
    const { text } = await buffer.readNew();
    expect([buffer.isFull, (await readFile(path, "utf8")).length, text]).toEqual([
      true,
      100,
      `012345678\n012345678\n[150 of 209 bytes left out here; the first 100 bytes are in ${path}]\n${"012345678\n".repeat(3)}the end.\n`,
    ]);
  });

  test("goes on without a file when none can be opened, and says why", async () => {
    const buffer = new OutputBuffer(LIMITS, noFile);
    await fill(buffer, "x".repeat(200));
    await buffer.end();
    expect((await buffer.readNew()).text).toContain("the full text could not be kept: disk full]");
  });

  test("each look shows what came since the last one", async () => {
    const buffer = new OutputBuffer(LIMITS, opener(tempFolder()));
    await fill(buffer, "a\nhalf");
    const first = await buffer.readNew();
    await fill(buffer, " more\n", "y".repeat(100));
    const second = await buffer.readNew();
    await buffer.end();
    const third = await buffer.readNew();
    expect([first.text, second.totalBytes, third.text]).toEqual(["a\nhalf", 106, ""]);
  });

  test("whatever comes in whatever pieces: bounded, well-formed, begins and ends as the output does", async () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "🙂", "\n", " "), maxLength: 60 }));
    await fc.assert(
      fc.asyncProperty(pieces, async (texts) => {
        const buffer = new OutputBuffer(LIMITS, noFile);
        await fill(buffer, ...texts);
        await buffer.end();
        const whole = texts.join("");
        const { text, totalBytes, omittedBytes } = await buffer.readNew();
        const [head = "", tail = ""] = text.split(/\[\d+ of \d+ bytes left out here.*\]\n/);
        expect(totalBytes).toBe(Buffer.byteLength(whole));
        expect(text).not.toContain("\ufffd");
        if (omittedBytes === 0) expect(text).toBe(whole);
        else {
          expect(whole.startsWith(head) || whole.startsWith(head.slice(0, -1))).toBe(true);
          expect([
            whole.endsWith(tail),
            Buffer.byteLength(tail) <= 40,
            Buffer.byteLength(head) <= 21,
          ]).toEqual([true, true, true]);
        }
      }),
    );
  });
});
