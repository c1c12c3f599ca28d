import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { findChromium, openPage } from "./browser.ts";
import { filesRoom, type ServedRoom, type Steps } from "./server-room.ts";

const chromium = findChromium();

const HOSTILE =
  "# Done\n\n<script>document.title = 'taken'</script> <img src=x onerror=\"document.title = 'taken'\"> [link](javascript:document.title='taken') ![x](https://images.invalid/x.png)";

function room(steps: Steps): Promise<ServedRoom> {
  return filesRoom(steps, { page: join(import.meta.dirname, "../../dist/web") });
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
    await page.until(`location.hash === "#/" && ${text}.includes("There is no session yet.")`);
    await page.evaluate("document.querySelector('nav a[href=\"#/new\"]').focus()");
    await page.press("Enter");
    await page.until("document.querySelector('form textarea') && document.activeElement.id === 'main'");
    await page.press("Tab");
    await page.type("Make a file");
    await page.press("Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Enter");
    await page.until("document.activeElement.closest('.question')");
    expect(await page.evaluate(text)).toContain("touch made");
    await page.press("Tab", "Tab", "Enter");
    await page.until(
      "document.querySelector('.run-end') && document.querySelector('.composer textarea') === document.activeElement",
    );
    const shown = await page.evaluate<string>(text);
    for (const part of ["Make a file", "bash", "Done", "<script>document.title = 'taken'</script>"])
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
    await page.until("document.querySelector('.card a')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until(`document.querySelector('.run-end') && document.querySelector('.composer textarea')`);
    await page.evaluate("document.querySelector('.composer textarea').focus()");
    await page.type("Two");
    await page.press("Enter");
    await page.until(
      `${text}.includes("Second answer") && document.querySelectorAll('.run-end').length === 2`,
    );
    for (const view of ["timeline", "context", "files", "replay"]) {
      await page.evaluate(`document.querySelector('.views a[href$="/${view}"]').click()`);
      await page.until(
        `document.querySelector('.views a[href$="/${view}"][aria-current]') && document.querySelector('.picture, .views ~ p.soft:not([aria-busy])')`,
      );
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    expect(page.faults).toEqual([]);
  });

  test("a connection that is lost is told where a person reads, at the end of a long conversation", async () => {
    const { origin, token, reader, close } = await room([says("A line.\n\n".repeat(200))]);
    const { id } = await reader.start({ prompt: "One" });
    const page = await openPage(program);
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.card a')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until("document.querySelector('.run-end')?.getBoundingClientRect().top < innerHeight");
    await close();
    await page.until("document.querySelector('.notes .warn')");
    expect(
      await page.evaluate(
        "(({ top, bottom }) => [scrollY > 1000, top >= document.querySelector('.bar').offsetHeight, bottom <= innerHeight])(document.querySelector('.notes .warn').getBoundingClientRect())",
      ),
    ).toEqual([true, true, true]);
  });

  test("the end of a long line of a change is not off screen", async () => {
    const content = "x".repeat(2_000);
    const { origin, token, reader } = await room([calls("write", { path: "made.txt", content })]);
    const { id } = await reader.start({ prompt: "Make a file" });
    const page = await openPage(program, { width: 360 });
    await page.goTo(`${origin}/#token=${token}`);
    await page.until("document.querySelector('.card a')");
    await page.evaluate(`location.hash = "#/sessions/${id}"`);
    await page.until("document.querySelector('.question .diff-line')");
    expect(
      await page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.question .diff-lines'))",
      ),
    ).toBe(true);
  });

  test("without a token it says where to get one, in the language of the browser", async () => {
    const { origin } = await room([]);
    const page = await openPage(program, { language: "zh-CN" });
    await page.goTo(`${origin}/`);
    await page.until(`${text}.startsWith("请用 nano-agent serve")`);
    expect(await page.evaluate("document.documentElement.lang")).toBe("zh-CN");
  });
});
