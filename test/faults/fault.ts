import type { WireName } from "../../src/core/message/message.ts";
import { VENDORS } from "../../src/testing/check-request.ts";
import { piecesOf, type ScriptAnswer } from "../../src/testing/script.ts";
import type { ScriptedServer } from "../../src/testing/scripted-server.ts";
import type { ServerReply, ServerStep } from "../../src/testing/server-step.ts";
import type { CommandEnd, RunningCommand } from "../e2e/command.ts";

/** The wires, in the order of the tables. */
export const WIRES: readonly WireName[] = ["openai_chat", "anthropic", "openai_responses", "google"];

/**
 * A way in which something around the command fails (a provider, a child, a disk), and what the command has
 * to make of it.
 */
export interface Fault {
  /** What happens; the first column of the table. */
  readonly scenario: string;
  /** What must come of it, in words; the second column. */
  readonly outcome: string;
  /** The answers, in order; the last one is given again and again. */
  readonly steps: (wire: WireName, place: FaultPlace) => readonly ServerStep[];
  /** Default: all four. */
  readonly wires?: readonly WireName[];
  readonly args?: readonly string[];
  readonly env?: (wire: WireName, place: FaultPlace) => Readonly<Record<string, string>>;
  /** Null: ended by a signal. */
  readonly code: number | null;
  /** Lines on standard error before the last one. Default 0. */
  readonly notes?: number;
  /** Text of the result line, where it matters. */
  readonly says?: string | RegExp;
  readonly stderr?: readonly (string | RegExp)[];
  /** What must stand somewhere in the requests after the first: what the model is told. */
  readonly told?: readonly (string | RegExp)[];
  /** Requests that reach the provider in the first run. */
  readonly requests: number | "any";
  /** Requests of the next run, which goes on with the session. Default 1. */
  readonly resumedWith?: number;
  /** Lines of the file `effects`, which the calls write to. */
  readonly effects?: number;
  /** Keeps files for undo as the command does by itself. Default: it is switched off. */
  readonly undo?: true;
  /** Makes the place fit for the fault before the command starts. */
  readonly prepare?: (room: FaultRoom) => void | Promise<void>;
  /** Words of a shell that starts the command as `"$@"`. */
  readonly shell?: string;
  /** It mounts file systems only the command sees: where that is not possible, it is not tried. */
  readonly mounts?: true;
  /** What happens while the command is at work. */
  readonly meanwhile?: (
    running: RunningCommand,
    at: { readonly room: FaultRoom; readonly server: ScriptedServer },
  ) => Promise<void>;
  /** What else must be so when the command has ended. */
  readonly check?: (room: FaultRoom, end: CommandEnd) => void | Promise<void>;
  /** Puts right what the next run cannot do without. */
  readonly mend?: (room: FaultRoom) => void | Promise<void>;
  /** What must be so when the session was gone on with. */
  readonly afterwards?: (room: FaultRoom) => void | Promise<void>;
  /** False where nothing was kept to go on with. */
  readonly resumes?: false;
  /** False where no time or no output is left for the result line. */
  readonly resultLine?: false;
  /** True where a failure says nothing on standard error. */
  readonly silent?: true;
  /** Part of the sample that runs with all tests, on the first of its wires. */
  readonly sampled?: true;
}

/** What a fault may refer to. */
export interface FaultPlace {
  /** Address of the provider. */
  readonly url: string;
  /** Address of a second server, at another port, which must never be asked. */
  readonly otherUrl: string;
  readonly room: FaultRoom;
}

/** The folders of a fault: working folder, state (`XDG_STATE_HOME`) and home. */
export interface FaultRoom {
  readonly cwd: string;
  readonly state: string;
  readonly home: string;
}

/** The bytes of an answer as the vendor sends them. */
export function spoken(wire: WireName, answer: ScriptAnswer, chunkSize = 16): string {
  let calls = 0;
  const utterances = VENDORS[wire].render(piecesOf(answer), {
    model: "scripted",
    chunkSize,
    wantsUsage: true,
    number: 1,
    nextCallId: () => `call_${++calls}`,
  });
  const text = [...utterances].filter((each) => typeof each === "string").join("");
  return text.replaceAll("\r\n", "\n");
}

/** An event stream of exactly these bytes. */
export function streams(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): ServerReply {
  return { type: "replies", body, headers: { "content-type": "text/event-stream", ...headers } };
}

/** A stream that stops, connection closed, right after the last `mark` in it. */
export function cutAfter(wire: WireName, answer: ScriptAnswer, mark: string): ServerReply {
  const body = spoken(wire, answer, 4_096);
  const at = body.lastIndexOf(mark);
  if (at === -1) throw new Error(`"${mark}" is not in ${body}`);
  return { ...streams(body), cut: Buffer.byteLength(body.slice(0, at + mark.length)) };
}
