import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import { errorMessage, invalidArgument } from "../../core/base/errors.ts";
import { ownValue } from "../../core/base/json.ts";
import { editDistance } from "../../core/base/text.ts";
import type { Input } from "../../core/message/input.ts";
import type { ImageBlock } from "../../core/message/message.ts";
import { type Environment, variable } from "../../system/env.ts";
import { EXIT } from "../../view/exit-code.ts";
import { Control } from "./commands/control.ts";
import { nextMode } from "./commands/onboarding.ts";
import { openDetails, openHelp, showPlan } from "./commands/pages.ts";
import { openHistorySearch, openRewind } from "./commands/session-pickers.ts";
import { findCommand, runSlashCommand, slashCommands } from "./commands/slash-commands.ts";
import { canContinue, imageBlock } from "./editor/input-line.ts";
import type { KeyAction } from "./editor/keymap.ts";
import type { TerminalEvent } from "./tty/key.ts";
import type { RunningShell } from "./views/status-line.ts";

/** Two presses of a key within this time belong together. */
const TWICE_MS = 1_500;
const DOUBLE_ESCAPE_MS = 700;

/** Carries out what the person wants: sends, stops, queues and runs slash commands. */
export class Controller extends Control {
  /** A hint says what pressing the same key again does. */
  #isRepeatOffered = false;
  /** When Ctrl+C and Escape were pressed with nothing to stop or clear. */
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #escapedAt = Number.NEGATIVE_INFINITY;
  readonly #editing = new QueueEditing(this);
  #exitCode = 0;
  readonly #shells = new Map<AbortController, RunningShell>();
  #isSwitching = false;
  /** Actions requested before the session was open. */
  readonly #pendingActions: (() => void)[] = [];

  readonly #actions: { readonly [action in KeyAction]?: (key: string) => void } = {
    send: () => this.#enter(),
    queue: () => this.#queue(),
    "take-back": (key) => {
      const [, number] = /^alt\+([1-9])$/.exec(key) ?? [];
      this.#editing.editQueued(number === undefined ? undefined : Number(number));
    },
    "queue-list": () => this.#openQueue(),
    escape: () => this.#escape(),
    interrupt: () => this.#interrupt(),
    leave: () => this.#leave(),
    complete: () => void this.screen.input.accept(),
    mode: () => this.#whenOpen(() => nextMode(this)),
    details: () => openDetails(this),
    plan: () => showPlan(this),
    "search-history": () => openHistorySearch(this),
    redraw: () => this.screen.redraw(),
    suspend: () => this.ports.suspend(),
    editor: () => this.run(this.#editExternally()),
    image: () => this.run(pasteImage(this)),
  };

  /** Exit code of the last run if it did not end well. A run stopped by the person is not a failure. */
  get exitCode(): number {
    const outcome = this.screen.session?.lastOutcome;
    if (outcome === undefined) return this.#exitCode;
    return outcome.stopReason === "aborted" ? 0 : outcome.exitCode;
  }

  get shells(): readonly RunningShell[] {
    return [...this.#shells.values()];
  }

  #stopShell(): boolean {
    const newest = [...this.#shells.keys()].at(-1);
    newest?.abort();
    return newest !== undefined;
  }

  /** Shows a session and runs the actions requested before it existed. */
  attach(session: CodingSession, isResumed: boolean): void {
    this.screen.attach(session, { isResumed });
    this.ports.onSession(session);
    for (const work of this.#pendingActions.splice(0)) this.#guarded(work);
  }

  receive(event: TerminalEvent): void {
    if (this.#isRepeatOffered && event.type !== "reply") this.screen.clearHint();
    this.#isRepeatOffered &&= event.type === "reply";
    this.#guarded(() => {
      if (event.type === "text" && event.text === "?" && this.screen.input.isEmpty && !this.screen.hasPanel)
        openHelp(this);
      else this.screen.handle(event);
    });
    if (event.type !== "reply") this.screen.draw();
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.say(errorMessage(error), "bad");
    }
  }

  act(action: KeyAction, key: string): void {
    this.#actions[action]?.(key);
  }

  send(text: string, images: readonly ImageBlock[] = []): void {
    this.#whenOpen(() => this.screen.session && this.#deliver(this.screen.session, text, images));
  }

  /** Runs once the session is open. */
  #whenOpen(work: () => void): void {
    if (this.screen.session === undefined) this.#pendingActions.push(work);
    else work();
  }

  /** Steers the current run, or starts a new one. If a run is stopping, waits for its end first. */
  #deliver(session: CodingSession, text: string, images: readonly ImageBlock[] = []): void {
    const input: Input = images.length === 0 ? text : [{ type: "text", text }, ...images];
    if (session.view.state === "stopping")
      this.run(session.stop().then(() => this.#deliver(session, text, images)));
    else if (session.view.run === undefined && session.view.state !== "running") {
      const last = lastUserMessageId(session);
      const work = session.send(input).then(({ exitCode }) => {
        if (exitCode === EXIT.session && lastUserMessageId(session) === last)
          this.#returnToInput(session, text, images);
      });
      this.run(work);
    } else {
      const id = session.steer(input);
      const { held, items } = session.queue;
      const when = held ? "it waits in the queue, which is held" : "it goes out after the run";
      if (text.startsWith("/") && items.some((item) => item.id === id)) this.say(when, "muted");
    }
  }

  /** Puts a message that could not be stored back into the input; if that is taken, into the held queue. */
  #returnToInput({ queue }: CodingSession, text: string, images: readonly ImageBlock[]): void {
    const { input } = this.screen;
    if (input.isEmpty) input.replace(text, images);
    else {
      queue.hold();
      queue.add(text, images);
    }
    this.screen.draw();
  }

  async switchTo(open: () => Promise<CodingSession>, isResumed: boolean): Promise<void> {
    if (this.#isSwitching) return;
    this.#isSwitching = true;
    const before = this.screen.session;
    try {
      const next = await open();
      await before?.stop();
      this.#exitCode = this.exitCode;
      this.attach(next, isResumed);
      await before?.close();
    } finally {
      this.#isSwitching = false;
    }
  }

  #enter(): void {
    const { input } = this.screen;
    if (input.replaceBackslash() || this.#acceptCompletion()) return;
    const { expandedText, images } = input;
    const text = expandedText.trim();
    if (text === "") {
      this.#editing.end();
      const view = this.screen.session?.view;
      if (view !== undefined && canContinue(view)) this.send("Continue.");
      return;
    }
    const submit = (): boolean => this.#submit(text, () => this.send(expandedText, images));
    if (this.screen.session === undefined && text !== "/quit")
      this.#pendingActions.push(() => submit() && input.isEmpty && input.replace(text, images));
    else if (submit()) return;
    input.clear();
    this.#editing.end();
  }

  /** Accepts the completion. True if more text is expected: after a file, or a command with arguments. */
  #acceptCompletion(): boolean {
    const { input } = this.screen;
    const kind = input.hasPopup ? input.accept() : undefined;
    return (
      kind === "file" ||
      (kind === "command" && findCommand(this, input.text.trim().slice(1))?.hint !== undefined)
    );
  }

  /** Acts on the input; messages go through `give`. True if the text stays because it names no command. */
  #submit(text: string, give: () => void): boolean {
    const [, name, args = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
    const command = name === undefined ? undefined : findCommand(this, name);
    if (command?.isOwn === true) runSlashCommand(this, command.name, args.trim());
    else if (name !== undefined && command === undefined && !name.includes("/")) {
      const names = slashCommands(this).map((each) => each.name);
      this.say(`There is no /${name}. ${suggestion(name, names)}A space first sends it as text.`);
      return true;
    } else if (text.startsWith("!")) this.#shell(text);
    else if (text.startsWith("#") && !/^#{1,6}\s.*\n/.test(text))
      runSlashCommand(this, "memory", text.slice(1).trim());
    else give();
    return false;
  }

  #queue(): void {
    const { session, input } = this.screen;
    const text = input.expandedText.trim();
    if (session === undefined || text === "") return;
    if (this.#submit(text, () => this.#editing.add(text))) return;
    input.clear();
    this.#editing.end();
  }

  /** Stops the run and holds the queue, even after the message being edited is done. */
  #stopRun(session: CodingSession): void {
    this.#editing.stayHeld();
    this.run(session.stop());
  }

  #openQueue(): void {
    const { session } = this.screen;
    if (session === undefined || session.queue.items.length === 0) {
      this.say("Nothing is queued. Alt+Enter queues a message for after the run.", "muted");
      return;
    }
    const { queue } = session;
    const move = (at: number, to: number): number => {
      const id = queue.items[at]?.id;
      if (id === undefined || to < 0 || to >= queue.items.length) return at;
      queue.move(id, to);
      return to;
    };
    const actions: { readonly [key: string]: ((at: number, id: string) => unknown) | undefined } = {
      d: (_at, id) => queue.remove(id),
      s: (_at, id) => queue.sendNow(id),
      h: () => queue.hold(),
      r: () => queue.release(),
      "alt+up": (at) => move(at, at - 1),
      "alt+down": (at) => move(at, at + 1),
    };
    this.pick<string>({
      title: "Queued messages",
      get right() {
        return queue.held ? "held" : "";
      },
      get items() {
        return queue.items.map(({ id, text }, at) => ({
          label: `${at + 1}. ${text.slice(0, 500)}`,
          value: id,
        }));
      },
      get keys() {
        const hold = queue.held ? "r resumes" : "h holds them";
        return ["enter edits", "d drops", "s sends now", "alt+up/down moves", hold];
      },
      isSearched: false,
      onKey: (key, at) => {
        const action = ownValue(actions, key);
        const id = queue.items[at]?.id;
        if (action === undefined || id === undefined) return undefined;
        const to = action(at, id);
        return typeof to === "number" ? to : at;
      },
      onChoose: (id) => this.#editing.edit(id),
    });
  }

  #escape(): void {
    const { session, input } = this.screen;
    if (input.dismiss()) return;
    if (session?.view.run !== undefined) return this.#stopRun(session);
    if (this.#stopShell()) return;
    const now = this.ports.elapsed();
    const isSecond = now - this.#escapedAt < DOUBLE_ESCAPE_MS;
    this.#escapedAt = now;
    if (!input.isEmpty || session === undefined) return;
    if (isSecond) openRewind(this);
    else if (session.view.items.length > 0) this.#offerRepeat("esc again goes back to an earlier message");
  }

  #interrupt(): void {
    const { session, input } = this.screen;
    if (!input.isEmpty) {
      input.replace("");
      this.#editing.end();
      return;
    }
    if (session?.view.run !== undefined && session.view.state !== "stopping") {
      this.#stopRun(session);
      return;
    }
    if (this.#stopShell()) return;
    const now = this.ports.elapsed();
    if (now - this.#interruptedAt < TWICE_MS) this.ports.end();
    else this.#offerRepeat("ctrl+c again leaves");
    this.#interruptedAt = now;
  }

  /** Any other key clears the hint. */
  #offerRepeat(text: string): void {
    this.say(text);
    this.#isRepeatOffered = true;
  }

  #leave(): void {
    if (this.screen.input.isEmpty) this.ports.end();
    else this.screen.input.edit("delete-right");
  }

  #shell(text: string): void {
    const { session } = this.screen;
    const shared = !text.startsWith("!!");
    const command = text.slice(shared ? 1 : 2).trim();
    if (session === undefined || command === "") return;
    const stop = new AbortController();
    this.#shells.set(stop, { command, startedAt: this.screen.context.now });
    this.run(
      session.shell(command, { shared, signal: stop.signal }).finally(() => {
        this.#shells.delete(stop);
        this.screen.drawSoon();
      }),
    );
  }

  async #editExternally(): Promise<void> {
    const { input } = this.screen;
    const text = await this.ports.withTerminal(() =>
      writeInEditor(input.expandedText, this.ports.environment),
    );
    input.replace(text);
    this.screen.draw();
  }
}

function suggestion(name: string, names: readonly string[]): string {
  const near =
    names.find((each) => editDistance(name, each) === 1) ??
    names.find((each) => editDistance(name, each) === 2);
  return near === undefined ? "/help lists all. " : `Did you mean /${near}? `;
}

function lastUserMessageId({ view }: CodingSession): string | undefined {
  return view.items.findLast(({ type }) => type === "user")?.id;
}

async function pasteImage(control: Control): Promise<void> {
  const bytes = await clipboardImage();
  const image = bytes === undefined ? undefined : imageBlock(bytes);
  if (image === undefined)
    control.say(
      "There is no image in the clipboard, or no program that reads it (wl-paste, xclip, pngpaste).",
    );
  else {
    control.screen.input.addImage(image);
    control.screen.draw();
  }
}

/**
 * Lets the person edit text in `$VISUAL`, else `$EDITOR`, which gets the terminal meanwhile. Throws
 * `invalid_argument` if neither is set or it cannot be started.
 */
async function writeInEditor(text: string, environment: Environment): Promise<string> {
  const command = variable(environment, "VISUAL") ?? variable(environment, "EDITOR");
  if (command === undefined)
    throw invalidArgument("Neither VISUAL nor EDITOR is set. Set one, e.g. export EDITOR=vim.");
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-"));
  try {
    const path = join(folder, "message.md");
    writeFileSync(path, text, { mode: 0o600 });
    // It may contain options and quotes: the shell parses it, as for every other program.
    const child = spawn("sh", ["-c", `${command} "$1"`, "sh", path], { stdio: "inherit" });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (code !== 0) throw invalidArgument(`${command} ended with ${String(code)}; the text is unchanged.`);
    return readFileSync(path, "utf8").replace(/\n$/, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Programs that write the clipboard's image to their output. */
const CLIPBOARD_PROGRAMS: readonly (readonly [command: string, ...args: readonly string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"],
  ["pngpaste", "-"],
];

const MAX_IMAGE_BYTES = 10_000_000;

/** The bytes of the clipboard image; undefined without an image, or without a program that reads it. */
async function clipboardImage(): Promise<Uint8Array | undefined> {
  for (const [command, ...args] of CLIPBOARD_PROGRAMS) {
    const bytes = await outputOf(command, args);
    if (bytes !== undefined && bytes.length > 0) return bytes;
  }
  return undefined;
}

function outputOf(command: string, args: readonly string[]): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    execFile(
      command,
      args,
      { encoding: "buffer", maxBuffer: MAX_IMAGE_BYTES, timeout: 3_000 },
      (error, stdout) => resolve(error === null ? stdout : undefined),
    );
  });
}

/** Edits queued messages in the input, one at a time. The queue is held meanwhile. */
class QueueEditing {
  readonly #control: Pick<Control, "screen" | "say">;
  /** The queue position of the message in the input, and whether the queue was held before. */
  #edited: { readonly from: number; readonly wasHeld: boolean } | undefined;

  constructor(control: Pick<Control, "screen" | "say">) {
    this.#control = control;
  }

  add(text: string): void {
    const { session, input } = this.#control.screen;
    if (session === undefined) return;
    const { queue } = session;
    const id = queue.add(text, input.images);
    const at = this.#edited?.from;
    if (at !== undefined && at < queue.items.length - 1) queue.move(id, at);
  }

  /**
   * Edits the message with that number, else the one before the message being edited, else the newest. If the
   * queue is empty: the newest message that the run has not received.
   */
  editQueued(number: number | undefined): void {
    const { session, input } = this.#control.screen;
    if (session === undefined) return;
    const from = this.#edited?.from;
    if (from !== undefined) this.#putBack();
    const { items } = session.queue;
    const newest = session.view.steering.at(-1);
    if (number === undefined && items.length === 0 && newest !== undefined) {
      this.#putBack();
      const text = session.unsteer(newest.id);
      if (text !== undefined) input.replace(text);
      return;
    }
    const message = items[number === undefined ? Math.max(0, (from ?? items.length) - 1) : number - 1];
    const missing = number === undefined ? "Nothing is queued." : `There is no queued message ${number}.`;
    if (message !== undefined) {
      this.edit(message.id);
      return;
    }
    this.end();
    this.#control.say(missing, "muted");
  }

  edit(id: string): void {
    const { session, input } = this.#control.screen;
    if (session === undefined) return;
    const { queue } = session;
    const wasHeld = this.#edited?.wasHeld ?? queue.held;
    queue.hold();
    this.#putBack();
    const from = queue.items.findIndex((each) => each.id === id);
    const images = queue.items[from]?.images;
    input.replace(queue.remove(id), images);
    this.#edited = { from, wasHeld };
    this.#control.say("alt+enter puts it back into the queue, enter sends it now", "muted");
  }

  /** Returns the text, changed or not, to the queue. */
  #putBack(): void {
    const { input } = this.#control.screen;
    const draft = input.expandedText.trim();
    if (draft !== "") this.add(draft);
    input.clear();
  }

  /** Leaves the queue held after the edit. */
  stayHeld(): void {
    if (this.#edited !== undefined) this.#edited = { ...this.#edited, wasHeld: true };
  }

  /** Restores the queue's state after the edited message was queued, sent or dropped. */
  end(): void {
    const edited = this.#edited;
    if (edited === undefined) return;
    this.#edited = undefined;
    const { screen } = this.#control;
    screen.clearHint();
    if (!edited.wasHeld) screen.session?.queue.release();
  }
}
