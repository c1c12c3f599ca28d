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
