import assert from "node:assert/strict";
import { mean } from "./mean.mjs";

assert.equal(mean([4]), 4);
assert.equal(mean([1, 2, 6]), 3);
assert.equal(mean([]), 0);
