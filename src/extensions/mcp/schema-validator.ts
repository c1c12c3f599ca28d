import type { JsonSchemaType, JsonSchemaValidator } from "@modelcontextprotocol/client";
import type { JsonSchema } from "../../core/base/schema.ts";
import { compileValidator } from "../../core/base/validate-json.ts";

/** The protocol's own validator generates code from foreign schemas and takes forever on some. */
export const SCHEMA_VALIDATOR = {
  getValidator: <T>(schema: JsonSchemaType): JsonSchemaValidator<T> => {
    const validate = compileValidator(schema as JsonSchema);
    return (input) => {
      const result = validate(input);
      if (result.ok) return { valid: true, data: result.value as T, errorMessage: undefined };
      const messages = result.issues.map(({ path, message }) =>
        path === "" ? message : `${path}: ${message}`,
      );
      return { valid: false, data: undefined, errorMessage: messages.join("; ") };
    };
  },
};
