import type { Fields } from "../../core/base/json.ts";
import type { AssistantBlock, ToolResultBlock, Usage, UserBlock } from "../../core/message/message.ts";

/** Programs whose session files are read. */
export type ForeignProgram = "claude-code" | "codex" | "pi";

/** A piece of a conversation from elsewhere, in its order. */
export type ForeignItem =
  | {
      readonly type: "user";
      readonly content: readonly UserBlock[];
      /** False for what the program itself said to the model. */
      readonly isInput: boolean;
      readonly time: number | undefined;
    }
  | {
      readonly type: "assistant";
      readonly content: readonly AssistantBlock[];
      /** `provider/id`. */
      readonly model: string;
      readonly usage?: Usage | undefined;
      /** USD, where the file says so. */
      readonly costUsd?: number | undefined;
      readonly finish: "stop" | "tool_use" | "length" | "refusal" | "interrupted";
      readonly time: number | undefined;
    }
  | { readonly type: "result"; readonly result: ToolResultBlock; readonly time: number | undefined };

/** An answer of the model. */
export type ForeignAnswer = Extract<ForeignItem, { readonly type: "assistant" }>;

/** An answer whose list is its own, so that further blocks can be added. */
export type GrowingAnswer = ForeignAnswer & { readonly content: AssistantBlock[] };

/** A session file of another program, read. */
export interface ForeignSession {
  readonly program: ForeignProgram;
  readonly sessionId: string | undefined;
  /** Folder it worked in, as the file says. */
  readonly cwd: string | undefined;
  readonly items: readonly ForeignItem[];
  /** Records left out on purpose, by kind. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Records and blocks of kinds that are not known here, by kind. */
  readonly unknown: ReadonlyMap<string, number>;
}

/** A record of a foreign file, with the number of its line. */
export interface ForeignRecord {
  readonly line: number;
  readonly fields: Fields;
}

/** The counts of a parser on its way. */
export interface Counts {
  readonly leftOut: KindCount;
  readonly unknown: KindCount;
}

/** The findings of a parser. */
export type ParsedSession = Pick<ForeignSession, "sessionId" | "cwd" | "items">;

/** Reads the records of one program's files. */
export type ParseForeign = (records: readonly ForeignRecord[], counts: Counts) => ParsedSession;

/** Counts by kind. */
export class KindCount {
  readonly counts: Map<string, number> = new Map();

  add(kind: string, count = 1): void {
    // The kinds of a hostile file are texts of any length and number.
    const known = kind.slice(0, 80).toWellFormed();
    const key = this.counts.has(known) || this.counts.size < 100 ? known : "others";
    if (count > 0) this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }
}
