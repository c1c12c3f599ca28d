import { type Fields, isRecord } from "../core/base/json.ts";
import { type Violations } from "./request-violations.ts";

/** Tokens below which the API refuses a limit. */
const MIN_OUTPUT_TOKENS = 16;

/** Violations of the Responses API (https://platform.openai.com/docs/api-reference/responses/create). */
export function checkOpenAiResponsesRequest(body: Fields, found: Violations): void {
  found.nonEmpty("model", body["model"]);
  const limit = body["max_output_tokens"];
  if (limit !== undefined && !(Number(limit) >= MIN_OUTPUT_TOKENS))
    found.add("max_output_tokens", `must be at least ${MIN_OUTPUT_TOKENS}`);
  if (body["tools"] !== undefined) {
    for (const [where, tool] of found.objects("tools", body["tools"])) {
      if (tool["type"] === "function") found.tool(where, { name: tool["name"], schema: tool["parameters"] });
      else found.vendorTool(tool["name"]);
    }
  }
  const choice = body["tool_choice"];
  if (choice !== undefined) found.toolChoice(isRecord(choice) ? choice["name"] : undefined);
  if (typeof body["input"] !== "string") checkItems(found.someObjects("input", body["input"]), found);
}

function checkItems(items: readonly (readonly [string, Fields])[], found: Violations): void {
  const ids = new Set<string>();
  const calls: string[] = [];
  const answered: unknown[] = [];
  for (const [at, [where, item]] of items.entries()) {
    checkItemId(where, item, { ids, found });
    const type = item["type"] ?? (item["role"] === undefined ? undefined : "message");
    if (type === "message") checkMessage(where, item, found);
    else if (type === "function_call" || type === "custom_tool_call") {
      checkCall(where, item, found);
      calls.push(String(item["call_id"]));
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      if (!calls.includes(String(item["call_id"])))
        found.add(where, `answers ${JSON.stringify(item["call_id"])}, which was not called before`);
      else answered.push(item["call_id"]);
      checkOutput(`${where}.output`, item["output"], found);
    } else if (type === "reasoning") checkReasoning(where, item, { next: items[at + 1]?.[1], found });
    else if (!VENDOR_ITEMS.has(type)) found.add(where, `has the unknown type ${JSON.stringify(type)}`);
  }
  found.answers("input", calls, answered);
}

/** Items that only the vendor looks into: what its own tools did, and its compaction. */
const VENDOR_ITEMS: ReadonlySet<unknown> = new Set(
  [
    "item_reference compaction web_search_call file_search_call code_interpreter_call image_generation_call",
    "computer_call computer_call_output local_shell_call local_shell_call_output shell_call shell_call_output",
    "apply_patch_call apply_patch_call_output tool_search_call tool_search_output mcp_list_tools mcp_call",
    "mcp_approval_request mcp_approval_response",
  ].flatMap((names) => names.split(" ")),
);

/** How ids of items begin, where one is sent. */
const ID_PREFIX: { readonly [type: string]: string } = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};

function checkItemId(
  where: string,
  item: Fields,
  { ids, found }: { readonly ids: Set<string>; readonly found: Violations },
): void {
  const { id } = item;
  if (id === undefined) return;
  if (!found.nonEmpty(`${where}.id`, id)) return;
  const prefix = ID_PREFIX[String(item["type"] ?? "message")];
  if (prefix !== undefined && !id.startsWith(prefix))
    found.add(`${where}.id`, `is ${id}; it must begin with ${prefix}`);
  if (ids.has(id)) found.add(`${where}.id`, `uses the id ${id} a second time`);
  ids.add(id);
}

const INPUT_PARTS: readonly string[] = ["input_text", "input_image", "input_file"];
const OUTPUT_PARTS: readonly string[] = ["output_text", "refusal"];

function checkMessage(where: string, item: Fields, found: Violations): void {
  const { role, content } = item;
  if (!["user", "assistant", "system", "developer"].includes(String(role)))
    found.add(`${where}.role`, `is ${JSON.stringify(role)}`);
  if (typeof content === "string") return;
  const allowed = role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS;
  for (const [place, part] of found.someObjects(`${where}.content`, content))
    checkPart(place, part, { allowed, found });
}

function checkPart(
  where: string,
  part: Fields,
  { allowed, found }: { readonly allowed: readonly string[]; readonly found: Violations },
): void {
  const type = String(part["type"]);
  if (!allowed.includes(type)) found.add(where, `has type ${type}, which is not allowed here`);
  if (type.endsWith("_text") && typeof part["text"] !== "string") found.add(where, "has no text");
  if (type === "input_image" && part["file_id"] === undefined)
    found.nonEmpty(`${where}.image_url`, part["image_url"]);
}

function checkCall(where: string, item: Fields, found: Violations): void {
  found.callId(`${where}.call_id`, item["call_id"]);
  found.toolName(`${where}.name`, item["name"]);
  if (item["type"] === "function_call") found.argumentsText(`${where}.arguments`, item["arguments"]);
  else if (typeof item["input"] !== "string") found.add(`${where}.input`, "is not text");
}

function checkOutput(where: string, output: unknown, found: Violations): void {
  if (typeof output === "string") return;
  for (const [place, part] of found.someObjects(where, output))
    checkPart(place, part, { allowed: INPUT_PARTS, found });
}

/** Types of items that come from the model. */
const OF_MODEL = /_call$|^(?:reasoning|compaction|mcp_list_tools|mcp_approval_request)$/;

function checkReasoning(
  where: string,
  item: Fields,
  { next, found }: { readonly next: Fields | undefined; readonly found: Violations },
): void {
  if (!Array.isArray(item["summary"])) found.add(`${where}.summary`, "is not an array");
  const isSaid = next?.["role"] === "assistant" || OF_MODEL.test(String(next?.["type"]));
  if (!isSaid) found.add(where, "is reasoning without the item that followed it");
}
