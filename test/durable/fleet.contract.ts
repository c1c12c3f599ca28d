import { describe } from "vitest";
import type { FleetPlace } from "./fleet-room.ts";
import { describeJournals } from "./journals.contract.ts";
import { describeLimits } from "./limits.contract.ts";
import { describeRefusals } from "./refusals.contract.ts";
import { describeStarting } from "./starting.contract.ts";
import { describeWaiting } from "./waiting.contract.ts";

/** What a fleet does, whatever its database is; `place` makes an empty one. */
export function describeFleet(name: string, place: () => FleetPlace): void {
  describe(`${name}: starting`, () => {
    describeStarting(place);
  });
  describe(`${name}: waiting`, () => {
    describeWaiting(place);
  });
  describe(`${name}: limits`, () => {
    describeLimits(place);
  });
  describe(`${name}: journals`, () => {
    describeJournals(place);
  });
  describe(`${name}: refusals`, () => {
    describeRefusals(place);
  });
}
