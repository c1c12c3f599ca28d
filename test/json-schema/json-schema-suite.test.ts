import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isNanoAgentError } from "../../src/core/base/errors.ts";
import type { JsonSchema } from "../../src/core/base/schema.ts";
import { compileValidator, type JsonValidator } from "../../src/core/base/validate-json.ts";

/** A group of the official JSON Schema Test Suite (drafts 2020-12 and 7), one to a line of the file. */
interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const text = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");

/** The rows that come out otherwise than the suite says; a schema that is refused is one row. */
function failingRows(): { readonly failing: readonly string[]; readonly passed: number } {
  const failing: string[] = [];
  let passed = 0;
  for (const line of text("fixtures/suite.jsonl").trimEnd().split("\n")) {
    const { file, description: group, schema, tests } = JSON.parse(line) as Group;
    let validate: JsonValidator;
    try {
      validate = compileValidator(schema);
    } catch (error) {
      if (!isNanoAgentError(error, "invalid_argument")) throw error;
      failing.push(`${file}: ${group}`);
      continue;
    }
    for (const { description, data, valid } of tests) {
      const result = validate(data);
      // A value that had to be repaired was not valid.
      if ((result.ok && result.value === data) === valid) passed++;
      else failing.push(`${file}: ${group}: ${description}`);
    }
  }
  return { failing, passed };
}

test("the validator judges as the JSON Schema Test Suite does, but for what is listed with its reason", () => {
  const unsupported = JSON.parse(text("unsupported.json")) as {
    readonly [reason: string]: readonly string[];
  };
  const { failing, passed } = failingRows();
  expect([failing.toSorted(), passed]).toEqual([Object.values(unsupported).flat().toSorted(), 2_184]);
});
