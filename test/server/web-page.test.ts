import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { calls, fails, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { findChromium } from "./browser.ts";
import { openPage } from "./open-page.ts";
import { filesRoom, otherWriter, type ServedRoom, type Steps } from "./server-room.ts";

const chromium = findChromium();

const HOSTILE =
  "# Done\n\n<script>document.title = 'taken'</script> <img src=x onerror=\"document.title = 'taken'\"> [link](javascript:document.title='taken') ![x](https://images.invalid/x.png)";

const PAGE = join(import.meta.dirname, "../../dist/web");

function room(steps: Steps): Promise<ServedRoom> {
  return filesRoom(steps, { page: PAGE });
}

const text = "(document.querySelector('main')?.innerText ?? '')";

describe.skipIf(chromium === undefined)("the page in a browser (skipped where there is no Chromium)", () => {
  const program = chromium ?? "";

  test("with the keyboard alone a person signs in, gives a task, allows a command and reads the answer", async () => {
    const { origin, token } = await room([
      calls("bash", { command: "touch made && echo ran-it" }),
      says(HOSTILE),
    ]);
    const page = await openPage(program);
    await page.goTo(`${origin}/#token=${token}`);
    await page.until(`location.hash === "#/" && ${text}.includes("Your sessions will show up here")`);
    await page.evaluate("document.querySelector('.rail .new').focus()");
    await page.press("Enter");
    await page.until("document.activeElement.matches('[data-new-session]')");
    await page.type("Make a file");
    await page.press("Tab", "Tab", "Tab", "Tab", "Enter");
    await page.until("document.activeElement.closest('.ask')");
    expect(await page.evaluate(text)).toContain("touch made");
    await page.press("Tab", "Tab", "Enter");
    await page.until(
      "document.querySelector('.done') && document.querySelector('.dock textarea') === document.activeElement",
    );
    const shown = await page.evaluate<string>(text);
    for (const part of ["Make a file", "Run", "Done", "<script>document.title = 'taken'</script>"])
      expect(shown).toContain(part);
    expect(
      await page.evaluate(
        "[document.title.includes('taken'), document.cookie, document.querySelectorAll('main script, main img, [href^=javascript]').length, location.href.includes('token')]",
      ),
    ).toEqual([false, "", 0, false]);
    expect(page.faults).toEqual([]);
  });

  test("what is sent goes on with the conversation, and every picture of it can be looked at", async () => {
    const { origin, token, reader } = await room([says("First answer"), says("Second answer")]);
    const { id } = await reader.start({ prompt: "One" });
    const page = await openPage(program, { width: 360 });
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.sess, .card')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until(`document.querySelector('.done') && document.querySelector('.dock textarea')`);
    await page.evaluate("document.querySelector('.dock textarea').focus()");
    await page.type("Two");
    await page.press("Enter");
    await page.until(`${text}.includes("Second answer") && document.querySelectorAll('.done').length === 2`);
    for (const view of ["timeline", "context", "files", "replay"]) {
      await page.evaluate(`document.querySelector('.tabs a[href$="/${view}"]').click()`);
      await page.until(
        `document.querySelector('.tabs a[href$="/${view}"][aria-current]') && document.querySelector('.picture, .wide.dim, .wide > .dim')`,
      );
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    expect(page.faults).toEqual([]);
  });

  test("what was done is undone and redone where it stands, and the list counts what is there", async () => {
    const { origin, token, reader } = await room([
      calls("write", { path: "made.txt", content: "one\n" }),
      says("Written."),
      says("Nothing more."),
    ]);
    const { id } = await reader.start({ prompt: "Write", permissionMode: "acceptEdits" });
    const page = await openPage(program);
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.sess .plus')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    const act = (name: string): string =>
      `[...document.querySelectorAll('.done .end button')].find(({ innerText }) => innerText === "${name}")`;
    const side = "document.querySelectorAll('.side .fl').length";
    const lines = async (): Promise<unknown> =>
      (await reader.sessions()).sessions.map((session) => session.lines.added);
    await page.until(act("Undo"));
    await page.evaluate(`${act("Undo")}.click()`);
    await page.until(`${act("Redo")} && !${act("Undo")}`);
    expect(await lines()).toEqual([0]);
    expect(await page.evaluate(side)).toBe(0);
    await page.evaluate(`${act("Redo")}.click()`);
    await page.until(act("Undo"));
    expect(await lines()).toEqual([1]);
    expect(await page.evaluate(side)).toBe(1);
    await page.evaluate("document.querySelector('.dock textarea').focus()");
    await page.type("Go on");
    await page.press("Enter");
    await page.until(
      "document.querySelectorAll('.done').length === 2 && document.querySelector('.done .end button')",
    );
    expect(await page.evaluate(`${act("Undo")} === undefined`)).toBe(true);
    expect(page.faults).toEqual([]);
  });

  test("a short text stands above the call it introduces, and who stops at its question stops the run", async () => {
    const { origin, token, reader } = await room([
      [says("Outside."), calls("bash", { command: "echo 1 > ../a" })],
    ]);
    const { id } = await reader.start({ prompt: "Go" });
    const page = await openPage(program);
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.card')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until("document.querySelector('.ask .last')");
    const order = "[...document.querySelectorAll('.talk > .item')].map(({ className }) => className)";
    expect(await page.evaluate(order)).toEqual(["item user", "item answer", "item tool"]);
    await page.until("(document.querySelector('.ask .last')?.click(), document.querySelector('.done'))");
    expect(await page.evaluate("document.querySelector('.done b').innerText")).toBe("Stopped");
  });

  test("who stops at a question whose process is gone refuses the call, and the run ends", async () => {
    const home = tempFolder();
    const cwd = tempFolder();
    const asking = await otherWriter({ home, cwd }, [calls("bash", { command: "echo 1 > ../a" })]);
    asking.onQuestion(() => undefined);
    const run = asking.send("Go");
    await expect.poll(() => asking.questions.length).toBe(1);
    asking.killNow();
    await run;
    const { origin, token } = await filesRoom([], { home, cwd, page: PAGE });
    const page = await openPage(program);
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.card')");
    await page.evaluate(`location.hash = "#/sessions/${asking.id}"`);
    await page.until("document.querySelector('.ask .last')");
    const over = "document.querySelector('.note.bad, .done')";
    await page.evaluate("document.querySelector('.ask .last').click()");
    expect(await page.until(`${over}?.innerText`)).toContain("A refused call ended the run");
    await page.until("document.querySelector('.ask') === null");
  });

  test("a run that failed has its name in a narrow list, and a chart its scale beside the columns", async () => {
    const { origin, token, reader } = await room([
      says("Well."),
      fails(`The server of the model answered with 500: ${"no reason given, ".repeat(9)}`),
    ]);
    const { id } = await reader.start({
      prompt: "Look at every file of this folder, and tell what it is for",
    });
    const page = await openPage(program, { width: 390 });
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.sess, .card')");
    await page.evaluate(`location.hash = "#/sessions/${id}/context"`);
    await page.until("document.querySelector('.plot rect[class^=t]')");
    expect(
      await page.evaluate(
        "Math.max(...[...document.querySelectorAll('.plot text[text-anchor=end]')].map((label) => label.getBoundingClientRect().right)) < document.querySelector('.plot rect[class^=t]').getBoundingClientRect().left",
      ),
    ).toBe(true);
    await reader.send(id, { text: "Go on", when: "now" });
    await page.evaluate("location.hash = '#/'");
    await page.until("document.querySelector('.sess small')");
    expect(
      await page.evaluate(
        "[document.documentElement.scrollWidth <= innerWidth, document.querySelector('.sess b').offsetWidth > 200]",
      ),
    ).toEqual([true, true]);
  });

  test("a connection that is lost is told where a person reads, at the end of a long conversation", async () => {
    const { origin, token, reader, close } = await room([says("A line.\n\n".repeat(200))]);
    const { id } = await reader.start({ prompt: "One" });
    const page = await openPage(program);
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.sess, .card')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until("document.querySelector('.done')?.getBoundingClientRect().top < innerHeight");
    await close();
    await page.until("document.querySelector('.dock .warn')");
    expect(
      await page.evaluate(
        "(({ top, bottom }) => [document.querySelector('.mid > .scroll').scrollTop > 1000, top >= document.querySelector('.head').offsetHeight, bottom <= innerHeight])(document.querySelector('.dock .warn').getBoundingClientRect())",
      ),
    ).toEqual([true, true, true]);
  });

  test("the end of a long line of a change is not off screen", async () => {
    const content = "x".repeat(2_000);
    const { origin, token, reader } = await room([calls("write", { path: "made.txt", content })]);
    const { id } = await reader.start({ prompt: "Make a file" });
    const page = await openPage(program, { width: 360 });
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.sess, .card')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until("document.querySelector('.ask .diff tr')");
    expect(
      await page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.ask .diff'))",
      ),
    ).toBe(true);
  });

  test("a session of a terminal appears by itself, with what it changed, and who holds it is told", async () => {
    const served = await room([]);
    const page = await openPage(program);
    await page.goTo(`${served.origin}/#token=${served.token}`);
    await page.until(`${text}.includes("Your sessions will show up here")`);
    const terminal = await otherWriter(served, [
      calls("write", { path: "made.txt", content: "one\ntwo\n" }),
      says("Written"),
    ]);
    await terminal.setMode("acceptEdits");
    await terminal.send("Write a file");
    await page.until("document.querySelector('.sess .plus')?.innerText === '+2'");
    await page.evaluate("document.querySelector('.sess').click()");
    await page.until(`document.querySelector('.dock .note')?.innerText.includes("process ${process.pid}")`);
    await terminal.close();
    expect(await page.evaluate("document.querySelectorAll('.dock textarea').length")).toBe(0);
  });

  test("without a token it says where to get one, in the language of the browser", async () => {
    const { origin } = await room([]);
    const page = await openPage(program, { language: "zh-CN" });
    await page.goTo(`${origin}/`);
    await page.until(`${text}.startsWith("请用 nano-agent serve")`);
    expect(await page.evaluate("document.documentElement.lang")).toBe("zh-CN");
  });
});
