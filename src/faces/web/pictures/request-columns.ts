import type { PictureWindow } from "./drawn-bars.ts";
import type { TimelineRequest } from "./run-timeline.ts";
import { placeOf, type TimeAxis } from "./time-axis.ts";

/** The requests that end in the same few pixels of a picture. */
export interface RequestColumn {
  readonly x: number;
  /** The one that read most. */
  readonly request: TimelineRequest;
  readonly count: number;
  /** Cost of all requests up to here; `undefined` once a price is unknown. */
  readonly costUsd: number | undefined;
}

/** Requests as columns of `width` pixels, in order; one column a place. */
export function requestColumns(
  requests: readonly TimelineRequest[],
  { axis, width }: { readonly axis: TimeAxis; readonly width: number },
  { from, to, pixels }: PictureWindow,
): readonly RequestColumn[] {
  const scale = pixels / Math.max(1e-6, to - from);
  const columns = new Map<number, RequestColumn>();
  for (const request of requests) {
    const place = (placeOf(axis, request.time) - from) * scale;
    if (place < 0 || place > pixels) continue;
    const x = Math.min(Math.floor(place / width) * width, Math.max(0, pixels - width));
    const known = columns.get(x);
    const isLarger = known === undefined || request.inputTokens > known.request.inputTokens;
    columns.set(x, {
      x,
      request: isLarger ? request : known.request,
      count: (known?.count ?? 0) + 1,
      costUsd: request.spent.costUsd,
    });
  }
  return [...columns.values()];
}
