import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files that take long: vitest, which begins with the largest, would end with one of them alone. */
const LONG = /\/test\/(?:durable\/fleet-|faults\/provider-faults|e2e\/durable-commands|mcp\/judges)/;

/** The order of test files: those that take longest first. */
export class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  return LONG.test(moduleId) ? 0 : 1;
}
