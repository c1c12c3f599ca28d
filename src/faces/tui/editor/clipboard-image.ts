import { execFile } from "node:child_process";

/** Programs that write the image of the clipboard to their output, each on the systems that have it. */
const PROGRAMS: readonly (readonly [command: string, ...args: readonly string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];

const MAX_BYTES = 10_000_000;

/** The bytes of the image in the clipboard; undefined when there is none, or no program that reads it. */
export async function clipboardImage(): Promise<Uint8Array | undefined> {
  for (const [command, ...args] of PROGRAMS) {
    const bytes = await outputOf(command, args);
    if (bytes !== undefined && bytes.length > 0) return bytes;
  }
  return undefined;
}

function outputOf(command: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { encoding: "buffer", maxBuffer: MAX_BYTES, timeout: 3_000 }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}
