import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { tempFolder } from "../temp-folder.ts";

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
  /** Errors, refusals of the security policy among them. */
  readonly faults: readonly string[];
}

/** How the page is looked at. */
export interface BrowserOptions {
  readonly width?: number;
  readonly language?: string;
}

/** Opens an empty page. The browser ends with the test. */
export async function openPage(program: string, options: BrowserOptions = {}): Promise<BrowserPage> {
  const home = tempFolder();
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
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
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
  onTestFinished(() => link.close());
  return pageOf(link);
}

async function pageOf(link: DevTools): Promise<BrowserPage> {
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
    faults: link.faults,
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
