import { verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { from, lastValueFrom, toArray } from "rxjs";
import type { AgUiEvent } from "../../src/adapters/ag-ui-encoder.ts";

/** What the protocol's own schema and state machine say about events. */
export async function judged(events: readonly AgUiEvent[]): Promise<readonly AgUiEvent[]> {
  for (const event of events) EventSchemas.parse(event);
  await lastValueFrom(from(events as unknown as BaseEvent[]).pipe(verifyEvents(false), toArray()));
  return events;
}
