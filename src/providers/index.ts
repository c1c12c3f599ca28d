export type {
  AssistantBlock,
  InvalidInput,
  ProviderData,
  ToolInput,
  UserBlock,
  WireName,
} from "../core/message/message.ts";
export type { CollectedAnswer } from "../core/model/answer.ts";
export type {
  BlockPart,
  FinishPart,
  FinishReason,
  ModelCallOptions,
  ModelInfo,
  ModelPrice,
  PriceTier,
  RetryPart,
  TextDelta,
  ThinkingDelta,
  TokenPrices,
  ToolCallDelta,
  ToolCallStart,
  ToolSpec,
} from "../core/model/model.ts";
export type { AiSdkLanguageModel } from "./ai-sdk/call-options.ts";
export { type FromAiSdkOptions, fromAiSdk } from "./ai-sdk/from-ai-sdk.ts";
export { callsAsText } from "./calls-as-text/calls-as-text.ts";
export { findPreset, PRESETS, type Preset } from "./catalog.ts";
export type { FallbackOptions } from "./fallback.ts";
export { type LocalServer, type ProbeLocalOptions, probeLocalServers } from "./local/local-servers.ts";
export { type LearnedModel, LearnedModels, RatePause, RatePauses } from "./model-call.ts";
export { knownModelIds, knownModelInfo, type ModelName, parseModelName } from "./model-info.ts";
export { NETWORK_DEFAULTS, type NetworkOptions, type NetworkSettings, type ProxyOptions } from "./network.ts";
export { loadPriceCatalog, type PriceCatalog } from "./price-catalog.ts";
export { type CustomProvider, type ResolveModelOptions, resolveModel } from "./resolve-model.ts";
export type {
  AnswerHead,
  AnswerSink,
  Exchange,
  Fetch,
  FetchInit,
  HttpRequest,
  Transport,
} from "./transport.ts";
export { createTransport, type TransportOptions } from "./transport.ts";
export type { ShownQuirks, Wire, WireDecoder, WireErrorAnswer, WireRequest, WireTarget } from "./wire.ts";
export { createWireModel, type WireModelOptions } from "./wire-model.ts";
