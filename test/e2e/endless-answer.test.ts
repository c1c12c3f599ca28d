import { expect, test } from "vitest";
import { startLoopback } from "../loopback-server.ts";
import { tempFolder } from "../temp-folder.ts";
import { runCommand, TEST_KEY } from "./command.ts";

/**
 * Says at its end how much memory the process held at most, in KiB. Linux counts what its parent held into
 * the `maxRSS` of a child, and into its own peak it does not.
 */
const TELL_PEAK = `
  import { existsSync, readFileSync } from "node:fs";
  const own = () => (existsSync("/proc/self/status") ? /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] : undefined);
  process.on("exit", () => process.stderr.write("peak:" + (own() ?? process.resourceUsage().maxRSS)));`;
/** V8 lets its young generation grow when it likes, which is up to 160 MiB of what nobody holds any more. */
const NO_MORE_THAN_OURS = "--max-semi-space-size=16";

const PIECE = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "ABCDEFGH" } }] })}\n\n`;

test.for(["text", "stream-json"])(
  "an answer of 50 MB in pieces of eight characters ends at 16 MB, below 256 MiB of memory (%s)",
  async (format) => {
    const many = Buffer.from(PIECE.repeat(1_000));
    const server = await startLoopback([
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        let left = 50_000_000 / 8 / 1_000;
        const send = (): void => {
          while (left-- > 0) if (!response.write(many)) return void response.once("drain", send);
          response.end("data: [DONE]\n\n");
        };
        send();
      },
    ]);
    try {
      const end = await runCommand(["-p", "--output-format", format, "go"], {
        env: {
          NODE_OPTIONS: `${NO_MORE_THAN_OURS} --import=${tempFolder({ "peak.mjs": TELL_PEAK })}/peak.mjs`,
          NANO_AGENT_MODEL: "openai/gpt-5",
          OPENAI_API_KEY: TEST_KEY,
          OPENAI_BASE_URL: `${server.url}/v1`,
        },
      });
      const peakKb = Number(/peak:(\d+)/.exec(end.stderr)?.[1]);
      expect({
        code: end.code,
        says: end.stderr.includes("longer than 16000000 characters"),
        requests: server.requests.length,
        isSmall: peakKb < 256 * 1_024 ? true : peakKb,
      }).toEqual({ code: 1, says: true, requests: 1, isSmall: true });
    } finally {
      await server.close();
    }
  },
);
