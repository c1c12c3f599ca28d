import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compileSchema } from "./compile-schema.ts";
import type { CompiledSchema, SchemaInput } from "./schema.ts";

describe("compileSchema: JSON Schema", () => {
  it("keeps a frozen copy and checks with it", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, additionalProperties: undefined };
    const compiled = compileSchema(schema);
    schema.properties.n.type = "string";
    expect(compiled.jsonSchema).toEqual({ type: "object", properties: { n: { type: "number" } } });
    expect(Object.isFrozen(compiled.jsonSchema["properties"])).toBe(true);
    expect(await compiled.validate({ n: "5" })).toEqual({ ok: true, value: { n: 5 } });
  });

  it("infers the value of a schema written out", () => {
    const compiled = compileSchema({
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
    });
    const value: { readonly n: number } | undefined = valueOf(compiled);
    expect(value).toBeUndefined();
  });

  it.each<[string, () => unknown, string]>([
    ["a date", () => ({ default: new Date(0) }), "#/default is an instance of Date, which JSON cannot hold"],
    [
      "a function",
      () => ({ properties: { "a/b": { default: () => 1 } } }),
      "#/properties/a~1b/default is a function (() => 1), which JSON cannot hold",
    ],
    [
      "a number JSON has not",
      () => ({ maximum: Number.POSITIVE_INFINITY }),
      "#/maximum is a number (Infinity), which JSON cannot hold",
    ],
    ["a schema that contains itself", cyclic, "#/properties/self contains itself; use $ref and $defs"],
  ])("refuses %s and says where", (_, make, problem) => {
    expect(() => compileSchema(make() as SchemaInput)).toThrow(`The schema cannot be used: ${problem}.`);
  });

  it.each([undefined, null, 5, "string", [], new Map(), () => 1])(
    "refuses %s, which is not a schema",
    (schema) => {
      expect(() => compileSchema(schema as unknown as SchemaInput)).toThrow(
        expect.objectContaining({
          code: "invalid_argument",
          message: expect.stringContaining("A schema must be"),
        }),
      );
    },
  );
});

describe("compileSchema: Standard Schema", () => {
  const schema = z.object({
    path: z.string(),
    limit: z.number().int().default(3),
    tags: z.array(z.string()).optional(),
  });

  it("shows the model what may go in, and returns what comes out", async () => {
    const compiled = compileSchema(schema);
    expect(compiled.jsonSchema).toEqual({
      type: "object",
      properties: {
        path: { type: "string" },
        limit: {
          default: 3,
          type: "integer",
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["path"],
    });
    expect(await compiled.validate({ path: "a" })).toEqual({ ok: true, value: { path: "a", limit: 3 } });
  });

  it("is as lenient as with JSON Schema, and reports in the same words", async () => {
    const compiled = compileSchema(schema);
    expect(await compiled.validate({ path: "a", limit: "7", tags: null })).toEqual({
      ok: true,
      value: { path: "a", limit: 7 },
    });
    expect(await compiled.validate({ file: "a" })).toEqual({
      ok: false,
      issues: [{ path: "", message: 'missing required property "path" (string)' }],
    });
  });

  it("reports what only the library can know, also when it takes its time", async () => {
    const even = z.object({
      list: z.array(z.object({ n: z.number().refine(async (n) => n % 2 === 0, "must be even") })),
    });
    expect(await compileSchema(even).validate({ list: [{ n: 2 }, { n: "3" }] })).toEqual({
      ok: false,
      issues: [{ path: "list[1].n", message: "must be even" }],
    });
  });

  it("turns a check that throws into an issue", async () => {
    const broken = z.string().refine(() => {
      throw new Error("out of order");
    });
    expect(await compileSchema(broken).validate("a")).toEqual({
      ok: false,
      issues: [{ path: "", message: "the check itself failed: out of order" }],
    });
  });

  it.each<[string, z.ZodType]>([
    ["dates", z.object({ when: z.date() })],
    ["big integers", z.object({ n: z.bigint() })],
    ["functions", z.object({ run: z.custom<() => void>((value) => typeof value === "function") })],
  ])("refuses %s, which JSON Schema cannot express", (_, unwritable) => {
    expect(() => compileSchema(unwritable)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringContaining("This zod schema cannot be written as JSON Schema"),
      }),
    );
  });

  it("asks for JSON Schema where the library cannot write one", () => {
    const old: SchemaInput = { "~standard": { version: 1, vendor: "old", validate: (value) => ({ value }) } };
    expect(() => compileSchema(old)).toThrow("This old schema cannot say what it is as JSON Schema");
  });

  it("infers the value the schema gives out", () => {
    const compiled = compileSchema(schema);
    const value: z.output<typeof schema> | undefined = valueOf(compiled);
    expect(value).toBeUndefined();
  });
});

/** The type of the value alone: the compiler checks it. */
function valueOf<Output>(_: CompiledSchema<Output>): Output | undefined {
  return undefined;
}

function cyclic(): unknown {
  const properties: Record<string, unknown> = {};
  const schema = { properties };
  properties["self"] = schema;
  return schema;
}
