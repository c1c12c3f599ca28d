export {
  type ErrorCode,
  isNanoAgentError,
  NanoAgentError,
  type NanoAgentErrorOptions,
} from "./core/base/errors.ts";
