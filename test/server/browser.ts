import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** A Chromium of this machine; undefined where there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  );
}

/** A page in a real browser. */
export interface BrowserPage {
  /** Loads another document. */
  readonly goTo: (url: string) => Promise<void>;
  /** The value of an expression in the page. */
  readonly evaluate: <T>(expression: string) => Promise<T>;
  /** Resolves with the value of an expression as soon as it is true. */
  readonly until: <T>(expression: string) => Promise<T>;
  /** Types a text into what has the focus. */
  readonly type: (text: string) => Promise<void>;
  /** Presses keys, one after the other: `Tab`, `Enter`. */
  readonly press: (...keys: readonly ("Tab" | "Enter")[]) => Promise<void>;
  /** What is shown now, as PNG. `scheme`: the colours that the reader prefers. */
  readonly picture: (size: PictureSize) => Promise<Buffer>;
  /** Ends the browser. */
  readonly close: () => Promise<void>;
  /** Errors, refusals of the security policy among them. */
  readonly faults: readonly string[];
}

/** How large a picture of a page is, in pixels, and in which colours. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
}

/** How the page is looked at. */
export interface BrowserOptions {
  readonly width?: number;
  readonly language?: string;
}

/** Opens an empty page in a browser of its own. Close it. */
export async function startBrowser(program: string, options: BrowserOptions = {}): Promise<BrowserPage> {
  const home = mkdtempSync(join(tmpdir(), "nano-agent-browser-"));
  const { width = 1280, language = "en-US" } = options;
  const child = spawn(
    program,
    [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--remote-debugging-port=0",
      `--user-data-dir=${home}`,
      `--accept-lang=${language}`,
      `--lang=${language}`,
      `--window-size=${width},800`,
    ],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env["PATH"], HOME: home, LANGUAGE: language },
    },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.once("exit", () => reject(new Error(`the browser ended: ${said}`)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const found = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const link = await DevTools.connect(address);
  return pageOf(link, async () => {
    link.close();
    await close();
  });
}

async function pageOf(link: DevTools, close: BrowserPage["close"]): Promise<BrowserPage> {
  const { targetId } = await link.send<{ readonly targetId: string }>("Target.createTarget", {
    url: "about:blank",
  });
  await link.attach(targetId);
  for (const domain of ["Page", "Runtime", "Log"]) await link.send(`${domain}.enable`);
  const evaluate = async <T>(expression: string): Promise<T> => {
    const given = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await link.send<Evaluation<T>>("Runtime.evaluate", given);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  return {
    evaluate,
    close,
    faults: link.faults,
    picture: async ({ width, height, scheme }) => {
      const mobile = width < 900;
      await link.send("Emulation.setDeviceMetricsOverride", { width, height, mobile, deviceScaleFactor: 1 });
      const features = [
        { name: "prefers-color-scheme", value: scheme },
        { name: "prefers-reduced-motion", value: "reduce" },
      ];
      await link.send("Emulation.setEmulatedMedia", { features });
      await evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
      const { data } = await link.send<{ readonly data: string }>("Page.captureScreenshot", {});
      return Buffer.from(data, "base64");
    },
    goTo: async (url) => {
      const loaded = link.next("Page.loadEventFired");
      await link.send("Page.navigate", { url });
      await loaded;
    },
    until: (expression) =>
      evaluate(
        `new Promise((resolve) => { const look = () => { const value = ${expression}; value ? resolve(value) : requestAnimationFrame(look); }; look(); })`,
      ),
    type: (text) => link.send("Input.insertText", { text }),
    press: async (...keys) => {
      for (const key of keys) {
        const code = key === "Tab" ? 9 : 13;
        const stroke = {
          key,
          code: key,
          windowsVirtualKeyCode: code,
          ...(key === "Enter" ? { text: "\r" } : {}),
        };
        await link.send("Input.dispatchKeyEvent", { type: "keyDown", ...stroke });
        await link.send("Input.dispatchKeyEvent", { type: "keyUp", ...stroke });
      }
    },
  };
}

interface Evaluation<T> {
  readonly result: { readonly value: T };
  readonly exceptionDetails?: object;
}

interface Heard {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: unknown;
}

/** The browser's protocol for tools, as far as a test needs it. */
class DevTools {
  readonly faults: string[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (heard: Heard) => void>();
  readonly #expected = new Map<string, () => void>();
  #sent = 0;
  #session: string | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(String(data)) as Heard));
  }

  static async connect(address: string): Promise<DevTools> {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true });
      socket.addEventListener("error", reject, { once: true });
    });
    return new DevTools(socket);
  }

  async attach(targetId: string): Promise<void> {
    const { sessionId } = await this.send<{ readonly sessionId: string }>("Target.attachToTarget", {
      targetId,
      flatten: true,
    });
    this.#session = sessionId;
  }

  send<T = void>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#sent;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#socket.send(JSON.stringify({ id, method, params, ...session }));
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result as T) : reject(new Error(`${method}: ${error.message}`)),
      );
    });
  }

  /** Resolves with the next event of a kind. */
  next(method: string): Promise<void> {
    return new Promise((resolve) => this.#expected.set(method, resolve));
  }

  close(): void {
    this.#socket.close();
  }

  #hear(heard: Heard): void {
    const { id, method, params } = heard;
    this.#expected.get(method ?? "")?.();
    if (id !== undefined) {
      this.#waiting.get(id)?.(heard);
      this.#waiting.delete(id);
    }
    if (
      method === "Runtime.exceptionThrown" ||
      (method === "Log.entryAdded" && /"level":"error"/.test(JSON.stringify(params)))
    )
      this.faults.push(JSON.stringify(params));
  }
}
