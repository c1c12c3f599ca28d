import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

const SCHEMA = join(import.meta.dirname, "../../dist/schema/events.json");

/** A line, as tests look at it: its type says which of the fields behind the ids it has. */
export interface EventLine {
  readonly type: string;
  readonly session_id: string;
  readonly uuid: string;
  readonly subtype?: string;
  readonly is_error?: boolean;
  readonly result?: string;
  readonly total_cost_usd?: number | null;
  readonly parent_tool_use_id?: string | null;
  readonly message: {
    readonly usage: object;
    readonly content: readonly {
      readonly type: string;
      readonly text: string;
      readonly id: string;
      readonly name: string;
      readonly tool_use_id: string;
      readonly content: unknown;
    }[];
  };
  readonly event: { readonly type: string; readonly index?: number; readonly delta?: unknown };
}

/**
 * The lines of a `stream-json` output, each checked against the published schema, with the rules that span
 * lines.
 */
export function checkedLines(stdout: string): readonly EventLine[] {
  expect(stdout.endsWith("\n")).toBe(true);
  const validate = new Ajv2020({ formats: { uuid: /^[0-9a-f-]{36}$/ } }).compile(
    JSON.parse(readFileSync(SCHEMA, "utf8")),
  );
  const lines = stdout
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const value: unknown = JSON.parse(line);
      validate(value);
      expect({ line, errors: validate.errors }).toEqual({ line, errors: null });
      return value as EventLine;
    });
  expect(new Set(lines.map((line) => line.uuid)).size).toBe(lines.length);
  expect(new Set(lines.map((line) => line.session_id)).size).toBe(1);
  expect(lines[0]).toMatchObject({ type: "system", subtype: "init" });
  expect(lines.map((line) => line.type).filter((type) => type === "result")).toEqual(["result"]);
  expect(lines.at(-1)?.type).toBe("result");
  return lines;
}
