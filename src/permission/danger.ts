import { clipped } from "../core/base/text.ts";
import { READ_ONLY_PROGRAMS } from "./read-only-commands.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import type { Verdict } from "./verdict.ts";

/** Why a part needs a yes, from what a person should look at first to what is least. */
export const DANGER = {
  hidden: 9,
  rule: 8,
  unread: 7,
  write: 6,
  unseen: 6,
  secret: 5,
  destroys: 5,
  reachesOut: 4,
  changes: 3,
  looks: 2,
  moves: 1,
  input: 1,
} as const;

/** How much harm a command could do, as far as its name says. */
export function dangerOf({ name, text, blocked, unseen, guards }: ShellUnit): number {
  if (blocked !== undefined || unseen !== undefined) return DANGER.unseen;
  if (DESTROYS.test(name) || GIT_DESTROYS.test(text)) return DANGER.destroys;
  if (REACHES_OUT.test(name)) return DANGER.reachesOut;
  if (guards.length > 0) return DANGER.changes;
  if (name === "cd" || name === "") return DANGER.moves;
  return READ_ONLY_PROGRAMS.has(name) ? DANGER.looks : DANGER.changes;
}

/** Takes away, overwrites, or acts as somebody else. */
const DESTROYS =
  /^(?:rm|rmdir|unlink|shred|dd|mkfs.*|fdisk|truncate|mv|chmod|chown|chgrp|kill|killall|pkill|sudo|doas|su|reboot|shutdown|halt)$/;
const GIT_DESTROYS = /^git (?:push|reset|clean|checkout|restore|rebase|branch -D|stash (?:drop|clear))\b/;
/** Sends something away, or runs whatever it is given. */
const REACHES_OUT =
  /^(?:curl|wget|ssh|scp|sftp|rsync|nc|ncat|telnet|ftp|docker|kubectl|aws|gcloud|(?:ba|da|z|fi|k)?sh|python[\d.]*|node|perl|ruby|php|npx|eval|source|\.)$/;

/** A part that needs a yes. */
export interface OpenPart {
  readonly danger: number;
  readonly part: string;
  readonly obstacle?: Verdict["obstacle"];
  /** The verdict where it is the most dangerous one. */
  readonly verdict: () => Verdict;
}

/** Parts that are named in a sentence; all of them are in the list. */
const MAX_NAMED = 8;

/** One question about all parts: the most dangerous one's, naming the others. `undefined`: none asks. */
export function oneQuestion(open: readonly OpenPart[]): Verdict | undefined {
  const sorted = open.toSorted((one, other) => other.danger - one.danger);
  const first = sorted[0]?.verdict();
  if (first === undefined) return undefined;
  const parts = [...new Set(sorted.map(({ part }) => part))];
  const others = parts.slice(1, MAX_NAMED).map(inBrief);
  const more = parts.length - 1 - others.length;
  const list = more > 0 ? [...others, `${more} more`] : others;
  const also = list.length === 0 ? "" : ` Not allowed either: ${list.join("; ")}.`;
  return { ...first, parts, ...obstacleOf(open), reason: first.reason + also };
}

/** An obstacle to any part is an obstacle to all. */
function obstacleOf(open: readonly OpenPart[]): Pick<Verdict, "obstacle"> {
  const obstacles = new Set(open.map(({ obstacle }) => obstacle));
  const worst = (["protected", "unreadable"] as const).find((each) => obstacles.has(each));
  return worst === undefined ? {} : { obstacle: worst };
}

function inBrief(part: string): string {
  return clipped(part.replaceAll(/\s+/g, " ").trim(), 80);
}
