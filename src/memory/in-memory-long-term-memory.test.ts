import { describeLongTermMemory } from "../../test/contracts/describe-long-term-memory.ts";
import { InMemoryLongTermMemory } from "./in-memory-long-term-memory.ts";

describeLongTermMemory("InMemoryLongTermMemory", (options) => new InMemoryLongTermMemory(options));
