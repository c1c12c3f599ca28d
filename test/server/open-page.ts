import { onTestFinished } from "vitest";
import { type BrowserOptions, type BrowserPage, startBrowser } from "./browser.ts";

/** Opens an empty page. The browser ends with the test. */
export async function openPage(program: string, options: BrowserOptions = {}): Promise<BrowserPage> {
  const page = await startBrowser(program, options);
  onTestFinished(page.close);
  return page;
}
