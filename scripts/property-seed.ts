import fc from "fast-check";
import { givenSeed } from "../test/given-seed.ts";

/** Seed of the property tests, so that a run of the tests says the same on every machine. */
const SEED = 20_261;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: givenSeed(SEED) });
