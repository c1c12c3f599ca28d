import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import type { RecordedRequest } from "../../src/testing/server-step.ts";
import { stdioCommand } from "../mcp/server-room.ts";
import { leave, openScreen } from "./screen-kit.ts";
import { type ScreenProgram, takesKeys } from "./screen-program.ts";
import { KEYS, type ProgramInTerminal } from "./terminal-program.ts";

/** Every form in which servers may ask. */
const FORM = {
  message: "Who comes?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 3, description: "as in the passport" },
      size: {
        type: "string",
        oneOf: [
          { const: "s", title: "Small" },
          { const: "l", title: "Large" },
        ],
        default: "l",
      },
      days: { type: "array", items: { type: "string", enum: ["Mon", "Tue", "Wed"] }, minItems: 1 },
      age: { type: "integer" },
    },
    required: ["name", "days"],
  },
};

const PAGE = { mode: "url", elicitationId: "1", url: "https://example.com/sign-in", message: "Sign in" };

/** A session in which a server asks, from the first request on that knows its tool. */
async function asking(
  asks: object,
  { plain = false, begins }: { readonly plain?: boolean; readonly begins: string },
): Promise<ScreenProgram> {
  const config = { mcpServers: { scripted: stdioCommand({ asks }) } };
  const args = ["--mcp-config", JSON.stringify(config), "--allowed-tools", "mcp__scripted__*"];
  const steps = Array.from({ length: 200 }, (_, index) => (request: RecordedRequest) => {
    const body = JSON.stringify(request.body);
    if (!body.includes("ask_person")) return says(`Not yet (${index}).`);
    return body.includes("accept") || body.includes("decline")
      ? says("It is done.")
      : calls("mcp__scripted__ask_person", {});
  });
  const screen = await openScreen(steps, {
    args: [...args, ...(plain ? ["--plain"] : [])],
    ...(plain && { ready: "> " }),
  });
  const { program } = screen;
  const isAsked = (): boolean => program.emulator.rows.join("\n").includes(begins.trim());
  for (let count = 0; !isAsked(); count++)
    await program.typeUntil(
      "Ask me\r",
      (shown) => shown.includes(begins) || shown.includes(`Not yet (${count}).`),
    );
  return screen;
}

/** What a server hears back, in the result of the call that asked. */
function heard({ server }: ScreenProgram): unknown {
  const bodies = server.requests.map(
    ({ body }) => body as { readonly messages: readonly { content: unknown }[] },
  );
  return JSON.parse(String(bodies.at(-1)?.messages.at(-1)?.content));
}

const FILLED = { action: "accept", content: { name: "Ann", size: "l", days: ["Mon", "Wed"] } };

test("a form of a server takes what fits, says what does not, and goes back", async () => {
  const screen = await asking(FORM, { begins: "as in the passport" });
  const { program } = screen;
  await takesKeys(program, { key: KEYS.ctrl("o"), shows: /What is asked/ });
  await program.typeUntil("q", "as in the passport");
  await program.typeUntil("An\r", "does not fit");
  await program.typeUntil("n\r", "2  Large");
  await program.typeUntil("huge\r", "Write one of: Small, Large.");
  await program.typeUntil(KEYS.escape, (shown) => !shown.includes("Write one of"));
  await program.typeUntil("\u001B[D", "as in the passport");
  await program.typeUntil("\r", "empty: Large");
  await program.typeUntil(`${KEYS.ctrl("u")}\r`, "[ ] Mon");
  await program.typeUntil("Mon, wed\r", "4 of 4");
  await program.typeUntil("\r", "It is done.");
  expect([heard(screen), await leave(program)]).toEqual([FILLED, 0]);
});

test("in plain mode a form is asked line by line", async () => {
  const screen = await asking(FORM, { plain: true, begins: "name (as in the passport):\n> " });
  const { program } = screen;
  await answered(program, "An", "This does not fit");
  await program.typeUntil("Ann\r", "size (one of: Small, Large; empty: Large):\n> ");
  await program.typeUntil("/back\r", "passport):\n> ");
  await program.typeUntil("Ann\r", "empty: Large):\n> ");
  await program.typeUntil("\r", "days (some of: Mon, Tue, Wed):\n> ");
  await program.typeUntil("Mon, wed\r", "age (a number; empty: leave it out):\n> ");
  await program.typeUntil("\r", "It is done.");
  expect(heard(screen)).toEqual(FILLED);
});

test.each([
  ["1", "accept"],
  ["2", "decline"],
])("in plain mode answer %s to a page that is to be opened means %s", async (number, action) => {
  const screen = await asking(PAGE, { plain: true, begins: "2  None of these" });
  const { program } = screen;
  await answered(program, number, "It is done.");
  expect(heard(screen)).toEqual({ action });
});

/** Answers until it is taken: what comes with the question is not. */
async function answered(program: ProgramInTerminal, text: string, wanted: string): Promise<void> {
  const isThere = (): boolean => program.emulator.written.includes(wanted);
  const tooSoon = (): number => program.emulator.written.split("came too soon").length;
  while (!isThere()) {
    const before = tooSoon();
    await program.typeUntil(`${text}\r`, () => isThere() || tooSoon() > before);
  }
}
