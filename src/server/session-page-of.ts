import { badRequest } from "./refusal.ts";
import type { ListedSession, SessionPage } from "./server-api.ts";

/** The place of a session in a list: newest first, of the same moment by their ids. */
export type PlaceInList = Pick<ListedSession, "id" | "updatedAt">;

/** Sorts sessions newest first. */
export function newestFirst(left: PlaceInList, right: PlaceInList): number {
  const byId = left.id < right.id ? 1 : -1;
  return right.updatedAt - left.updatedAt || (left.id === right.id ? 0 : byId);
}

/** A page of sessions, behind the place that `before` names. Throws for what no page has given out. */
export function pageOf(
  sessions: readonly ListedSession[],
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): SessionPage {
  const { page, next } = cut(sessions, { limit, before });
  return { sessions: page, ...(next === undefined ? {} : { next }) };
}

/** The part of a list that is a page, and the place it ends at where more follows. */
export function cut<T extends PlaceInList>(
  all: readonly T[],
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const sorted = [...all].sort(newestFirst);
  const place = before === undefined ? undefined : placeOf(before);
  const rest = place === undefined ? sorted : sorted.filter((each) => newestFirst(place, each) < 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && page.length < rest.length;
  return { page, next: hasMore ? `${last.updatedAt}_${last.id}` : undefined };
}

function placeOf(text: string): PlaceInList {
  const [, updatedAt, id] = /^(-?\d{1,16}(?:\.\d{1,16})?)_([A-Za-z0-9_-]{1,128})$/.exec(text) ?? [];
  if (id === undefined) throw badRequest("before is not the next of a page.");
  return { updatedAt: Number(updatedAt), id };
}
