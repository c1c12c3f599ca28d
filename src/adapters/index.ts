export { type AgUiOptions, toAgUiEvents } from "./ag-ui.ts";
export type { AgUiEvent, AgUiInterrupt, AgUiOutcome } from "./ag-ui-event.ts";
export {
  SERVER_SENT_EVENT_HEADERS,
  type ServerSentEventOptions,
  toJsonLines,
  toServerSentEvents,
} from "./frames.ts";
export {
  type StepEvent,
  type StepEventData,
  type StepEventOptions,
  type StepEventType,
  toStepEvents,
} from "./step-events.ts";
