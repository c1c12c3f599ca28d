import type { JournalEntry, NewEntry } from "../../src/core/agent/entries.ts";
import { type AssistantBlock, assistantMessage, userMessage } from "../../src/core/message/message.ts";

/**
 * Makes journals by chance: runs with parallel calls, subagents inside subagents, retries, questions,
 * refusals, compactions, changed files and undo, runs that were cut. A seed always gives the same one.
 */
export class JournalMaker {
  readonly entries: JournalEntry[] = [];
  #seed: number;
  #time = 1_700_000_000_000;
  #calls = 0;
  #tokens = 1_000;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Writes runs until there are this many entries. */
  make(size: number): readonly JournalEntry[] {
    while (this.entries.length < size) this.#run();
    return this.entries.slice(0, size);
  }

  #run(): void {
    this.#time += this.#below(5_000_000);
    this.#add({ type: "run_start", sessionId: "s", model: "m/one", tools: ["bash"] });
    this.#add({ type: "user_message", message: userMessage("Do it"), source: "input" });
    for (let turn = this.#below(6); turn >= 0; turn--) this.#turn(undefined, 0);
    const end = this.#below(5);
    if (end === 0) return;
    this.#add({ type: "run_end", stopReason: end === 1 ? "error" : "completed", iterations: 1 });
    if (this.#below(6) === 0) this.#undo();
  }

  #turn(scope: string | undefined, depth: number): void {
    const tagged = scope === undefined ? {} : { scope };
    const began = this.#time;
    for (let tries = this.#below(8) === 0 ? 2 : 0; tries > 0; tries--) {
      this.#wait(4_000);
      const error = {
        name: "Error",
        code: "provider_error",
        message: "busy",
        retryable: true,
        details: {},
      } as const;
      this.#add({ type: "retry", attempt: 2, delayMs: this.#below(3_000), error, ...tagged });
    }
    this.#wait(9_000);
    const calls = Array.from({ length: this.#below(4) }, () => `call_${++this.#calls}`);
    const content: AssistantBlock[] = [{ type: "text", text: "Working on it. ".repeat(1 + this.#below(9)) }];
    for (const id of calls) content.push({ type: "tool_use", id, name: "bash", input: { command: "ls" } });
    const durationMs = this.#time - began;
    this.#tokens += this.#below(900);
    const usage = {
      inputTokens: this.#tokens,
      outputTokens: 30,
      cacheReadTokens: this.#below(this.#tokens),
    };
    this.#add({
      type: "assistant_message",
      message: assistantMessage(content),
      model: "m/one",
      finishReason: { unified: "stop", raw: "stop" },
      usage,
      costUsd: 0.01,
      durationMs,
      ...(this.#below(9) === 0 ? {} : { firstTokenMs: this.#below(durationMs + 1) }),
      ...tagged,
    });
    if (this.#below(12) === 0) this.#compact(tagged);
    this.#callAll(calls, tagged, depth);
  }

  #callAll(calls: readonly string[], tagged: { readonly scope?: string }, depth: number): void {
    const base = { name: "bash", input: { command: "ls" }, ...tagged };
    for (const callId of calls) {
      this.#wait(50);
      const chance = this.#below(10);
      if (chance < 2) {
        this.#add({ type: "approval_request", callId, reason: "why", ...base });
        this.#wait(20_000);
        const action = chance === 0 ? "deny" : "allow";
        this.#add({ type: "permission_decision", callId, action, by: "person", reason: "said so", ...base });
      }
      if (chance !== 0) this.#add({ type: "tool_intent", callId, ...base });
      if (chance > 7 && depth < 2) this.#subagent(`task/${callId}`, tagged, depth);
    }
    const left = [...calls];
    while (left.length > 0) {
      const [callId = ""] = left.splice(this.#below(left.length), 1);
      this.#wait(3_000);
      if (this.#below(40) === 0) continue;
      this.#change(callId, tagged);
      const content = "x".repeat(this.#below(2_000));
      const result = { type: "tool_result", tool_use_id: callId, content } as const;
      this.#add({
        type: "tool_result",
        callId,
        name: "bash",
        status: "ok",
        result,
        durationMs: 5,
        ...tagged,
      });
    }
  }

  #subagent(own: string, around: { readonly scope?: string }, depth: number): void {
    const scope = around.scope === undefined ? own : `${around.scope}/${own}`;
    this.#add({ type: "run_start", sessionId: "s", model: "m/two", tools: [], agent: "scout", scope });
    for (let turn = this.#below(3); turn >= 0; turn--) this.#turn(scope, depth + 1);
    if (this.#below(8) > 0) this.#add({ type: "run_end", stopReason: "completed", iterations: 1, scope });
  }

  #compact(tagged: { readonly scope?: string }): void {
    const usage = { inputTokens: this.#tokens, outputTokens: 200 };
    this.#wait(2_000);
    const charge = { model: "m/one", usage, costUsd: 0.02, durationMs: this.#below(2_000) };
    this.#add({ type: "model_usage", purpose: "compaction", ...charge, ...tagged });
    const messages = [userMessage("All that was said, in short.")];
    this.#add({
      type: "compaction",
      reason: "threshold",
      method: "summary",
      messages,
      kept: 2,
      tokensBefore: this.#tokens,
      tokensAfter: 500,
      ...tagged,
    });
    this.#tokens = 1_500;
  }

  #change(callId: string, tagged: { readonly scope?: string }): void {
    if (this.#below(3) > 0) return;
    const path = `src/${"abcdef".charAt(this.#below(6))}.ts`;
    const version = (): { type: "file"; hash: string; size: number; mode: number } | null =>
      this.#below(4) === 0 ? null : { type: "file", hash: String(this.#below(99)), size: 1, mode: 0o644 };
    const changes = [{ path, before: version(), after: version() }];
    this.#add({ type: "checkpoint", callId, name: "bash", root: "/w", changes, ...tagged });
  }

  #undo(): void {
    const changes = [{ path: "src/a.ts", before: null, after: null }];
    const to = { run: 1 + this.#below(3), turn: 1 };
    const id = this.#add({ type: "rollback", direction: "undo", root: "/w", changes, to });
    this.#add({ type: "rollback_end", rollback: id, failed: [] });
  }

  #add(entry: NewEntry): string {
    const id = `e${this.entries.length}`;
    const parent = this.entries.at(-1)?.id ?? null;
    this.entries.push({ ...entry, id, parent, time: this.#time });
    return id;
  }

  #wait(most: number): void {
    this.#time += this.#below(most);
    // A clock is set back now and then.
    if (this.#below(200) === 0) this.#time -= 10_000;
  }

  #below(limit: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return limit <= 0 ? 0 : Math.floor((this.#seed / 2 ** 32) * limit);
  }
}

/** How often the fields of entries are read while `work` looks at them. */
export function countReads(
  entries: readonly JournalEntry[],
  work: (entries: readonly JournalEntry[]) => unknown,
): number {
  let reads = 0;
  const watched = entries.map(
    (entry) =>
      new Proxy(entry, {
        get: (target, field, receiver) => {
          reads++;
          return Reflect.get(target, field, receiver);
        },
      }),
  );
  work(watched);
  return reads;
}
