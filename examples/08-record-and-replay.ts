// Record a real model once, replay it in tests: no key, no network, the same answers. A changed request is
// reported, not guessed.
//   node examples/08-record-and-replay.ts [provider/model]
import { Agent, defineTool, isNanoAgentError } from "nano-agent";
import { resolveModel } from "nano-agent/providers";
import {
  Cassette,
  calls,
  parseCassette,
  recordModel,
  replayModel,
  ScriptedModel,
  says,
} from "nano-agent/testing";

const dice = defineTool({ name: "dice", description: "Throws a die.", execute: () => 4 });
const question = "Throw a die and double it.";

const [, , name] = process.argv;
const model =
  name === undefined
    ? new ScriptedModel([calls("dice"), says("Eight.")])
    : resolveModel(name, { env: (variable) => process.env[variable] });

const cassette = new Cassette();
const live = new Agent({ model: recordModel(model, { cassette }), tools: [dice] });
console.log("recorded:", (await live.run(question)).text);

// What goes to a file and comes back from it.
const saved = JSON.stringify(cassette);
const replay = replayModel(parseCassette(saved));
console.log("replayed:", (await new Agent({ model: replay, tools: [dice] }).run(question)).text);
replay.assertFinished();

const changed = await new Agent({ model: replayModel(parseCassette(saved)), tools: [dice] }).run(
  "Throw a die.",
);
if (isNanoAgentError(changed.error, "script_mismatch")) console.log(changed.error.message);
