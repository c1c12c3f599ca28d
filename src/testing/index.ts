/// <reference types="node" preserve="true" />
export {
  CASSETTE_VERSION,
  Cassette,
  type CassetteExchange,
  type CassetteJson,
  parseCassette,
  type RecordedPart,
  type RecordModelOptions,
  type ReplayModel,
  recordModel,
  replayModel,
} from "./cassette.ts";
export { checkRequest } from "./check-request.ts";
export { FakeClock } from "./fake-clock.ts";
export {
  calls,
  fails,
  finishes,
  SCRIPTED_USAGE,
  type ScriptAnswer,
  type ScriptPiece,
  type ScriptStep,
  says,
  thinks,
  waits,
} from "./script.ts";
export { ScriptedModel, type ScriptedModelOptions } from "./scripted-model.ts";
export { ScriptedServer, type ScriptedServerOptions, startScriptedServer } from "./scripted-server.ts";
export {
  type RecordedRequest,
  type ReplyFaults,
  redirects,
  refuses,
  replies,
  type ServerAnswer,
  type ServerReply,
  type ServerStep,
  showsHtml,
} from "./server-step.ts";
