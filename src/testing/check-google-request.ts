import { type Fields, isRecord } from "../core/base/json.ts";
import { type Violations } from "./request-violations.ts";

/** Violations of `generateContent` (https://ai.google.dev/api/generate-content). */
export function checkGoogleRequest(body: Fields, found: Violations): void {
  const system = body["systemInstruction"] ?? body["system_instruction"];
  if (system !== undefined) checkContent("systemInstruction", isRecord(system) ? system : {}, found);
  if (body["tools"] !== undefined) checkTools(body["tools"], found);
  checkContents(found.someObjects("contents", body["contents"], "are empty"), found);
}

function checkTools(tools: unknown, found: Violations): void {
  for (const [where, tool] of found.objects("tools", tools)) {
    if (tool["functionDeclarations"] === undefined) continue;
    for (const [place, declared] of found.objects(
      `${where}.functionDeclarations`,
      tool["functionDeclarations"],
    )) {
      const { name, parameters, parametersJsonSchema } = declared;
      found.tool(place, {
        name,
        schema: parametersJsonSchema ?? parameters,
        schemaOptional: true,
        takesChoice: true,
      });
      if (parameters !== undefined) checkSchema(`${place}.parameters`, parameters, found);
    }
  }
}

/** Keywords of the OpenAPI subset that `parameters` is; others are refused as unknown fields. */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength " +
    "maxLength pattern example anyOf propertyOrdering default items minimum maximum"
  ).split(" "),
);

function checkSchema(where: string, schema: unknown, found: Violations): void {
  if (!isRecord(schema)) {
    found.add(where, "is not an object");
    return;
  }
  for (const key of Object.keys(schema))
    if (!KEYWORDS.has(key)) found.add(where, `has the unknown keyword ${key}`);
  if (Array.isArray(schema["type"])) found.add(`${where}.type`, "is a list; only one type is taken");
  if (Array.isArray(schema["enum"]) && schema["enum"].some((value) => typeof value !== "string"))
    found.add(`${where}.enum`, "holds other values than text");
  if (isRecord(schema["properties"])) {
    for (const [key, inner] of Object.entries(schema["properties"]))
      checkSchema(`${where}.properties.${key}`, inner, found);
  }
  if (schema["items"] !== undefined) checkSchema(`${where}.items`, schema["items"], found);
  if (Array.isArray(schema["anyOf"]))
    for (const [at, inner] of schema["anyOf"].entries()) checkSchema(`${where}.anyOf[${at}]`, inner, found);
}

function checkContents(contents: readonly (readonly [string, Fields])[], found: Violations): void {
  if (contents[0] !== undefined && contents[0][1]["role"] !== "user")
    found.add("contents[0]", "is not of role user");
  let open: readonly Fields[] = [];
  for (const [where, content] of contents) {
    if (content["role"] !== "user" && content["role"] !== "model")
      found.add(`${where}.role`, `is ${JSON.stringify(content["role"])}`);
    const parts = checkContent(where, content, found);
    const answers = parts.flatMap((part) =>
      isRecord(part["functionResponse"]) ? [part["functionResponse"]] : [],
    );
    const calls = parts.flatMap((part) => (isRecord(part["functionCall"]) ? [part["functionCall"]] : []));
    if (content["role"] === "model") {
      if (open.length > 0) found.add(where, "follows function calls without their responses");
      if (answers.length > 0) found.add(where, "has function responses of role model");
    } else checkAnswers(where, { open, answers }, found);
    open = calls;
  }
  if (open.length > 0) found.add("contents", "end with function calls that have no responses");
}

function checkAnswers(
  where: string,
  turn: { readonly open: readonly Fields[]; readonly answers: readonly Fields[] },
  found: Violations,
): void {
  const { open, answers } = turn;
  if (open.length !== answers.length) {
    found.add(where, `has ${answers.length} function responses for ${open.length} function calls`);
    return;
  }
  for (const [at, call] of open.entries()) {
    const answer = answers[at];
    if (answer?.["name"] !== call["name"] || answer?.["id"] !== call["id"])
      found.add(where, `does not answer the call of ${String(call["name"])} in its place`);
  }
}

function checkContent(where: string, content: Fields, found: Violations): readonly Fields[] {
  const parts = found.someObjects(`${where}.parts`, content["parts"], "are empty");
  for (const [place, part] of parts) checkPart(place, part, found);
  return parts.map(([, part]) => part);
}

const DATA: readonly string[] = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];

function checkPart(where: string, part: Fields, found: Violations): void {
  const kinds = DATA.filter((key) => part[key] !== undefined);
  if (kinds.length !== 1)
    found.add(
      where,
      `has ${kinds.length === 0 ? "no data" : kinds.join(" and ")}; a part has exactly one kind`,
    );
  if (part["text"] === "" && part["thoughtSignature"] === undefined) found.add(where, "is an empty text");
  const { functionCall, functionResponse, inlineData } = part;
  if (functionCall !== undefined) checkCall(`${where}.functionCall`, functionCall, found);
  if (functionResponse !== undefined) {
    const fields = isRecord(functionResponse) ? functionResponse : {};
    found.toolName(`${where}.functionResponse.name`, fields["name"]);
    if (!isRecord(fields["response"])) found.add(`${where}.functionResponse.response`, "is not an object");
  }
  if (inlineData !== undefined) {
    const fields = isRecord(inlineData) ? inlineData : {};
    found.nonEmpty(`${where}.inlineData.mimeType`, fields["mimeType"]);
    found.nonEmpty(`${where}.inlineData.data`, fields["data"]);
  }
}

function checkCall(where: string, call: unknown, found: Violations): void {
  const fields = isRecord(call) ? call : {};
  found.toolName(`${where}.name`, fields["name"]);
  if (fields["args"] !== undefined && !isRecord(fields["args"]))
    found.add(`${where}.args`, "is not an object");
  if (fields["id"] !== undefined) found.callId(`${where}.id`, fields["id"]);
}
