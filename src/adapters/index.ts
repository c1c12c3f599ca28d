export { type AgUiOptions, toAgUiEvents } from "./ag-ui.ts";
export type { AgUiEvent, AgUiInterrupt, AgUiOutcome } from "./ag-ui-encoder.ts";
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
export type { UiMessageChunk, UiMessageMetadata } from "./ui-message-stream.ts";
export {
  toUiMessageChunks,
  UI_MESSAGE_STREAM_HEADERS,
  type UiMessageStreamOptions,
} from "./ui-message-stream.ts";
