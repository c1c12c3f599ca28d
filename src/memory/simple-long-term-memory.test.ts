import { describeLongTermMemory } from "../../test/contracts/describe-long-term-memory.ts";
import { SimpleLongTermMemory } from "./simple-long-term-memory.ts";

describeLongTermMemory("SimpleLongTermMemory", (options) => new SimpleLongTermMemory(options));
