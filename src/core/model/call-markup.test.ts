import { describe, expect, it } from "vitest";
import { toolCalledInText } from "./call-markup.ts";

const TOOLS = ["bash", "read", "mcp__server__find"];

/** As the model cards, chat templates and parsers of the servers show them. */
const CALLS: readonly (readonly [format: string, text: string])[] = [
  ["Hermes", '<tool_call>\n{"name": "read", "arguments": {"path": "a.ts"}}\n</tool_call>'],
  ["Hermes, the end left out", 'Let me look.\n<tool_call>\n{"name": "read", "arguments": {"path": "a.ts"}}'],
  [
    "Hermes, two calls behind a sentence",
    'I look at both. <tool_call>\n{"arguments": {"path": "a"}, "name": "read"}\n</tool_call>\n<tool_call>\n{"name": "read", "arguments": {"path": "b"}}\n</tool_call>',
  ],
  [
    "Qwen Coder",
    "<tool_call>\n<function=read>\n<parameter=path>\na.ts\n</parameter>\n</function>\n</tool_call>",
  ],
  ["Qwen Coder without its frame", "<function=read>\n<parameter=path>\na.ts\n</parameter>\n</function>"],
  ["Llama", '<function=read>{"path": "a.ts"}</function>'],
  ["GLM", "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.ts</arg_value>\n</tool_call>"],
  ["Mistral", '[TOOL_CALLS] [{"name": "read", "arguments": {"path": "a.ts"}}]'],
  ["Mistral from version 11 on", '[TOOL_CALLS]read[ARGS]{"path": "a.ts"}'],
  [
    "Kimi",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "a.ts"}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  [
    "DeepSeek",
    'I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{"path": "a.ts"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    "DeepSeek 3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path": "a.ts"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    "DeepSeek 3.2",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read">\n<｜DSML｜parameter name="path" string="true">a.ts</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  ],
  ["Llama JSON", '{"name": "read", "parameters": {"path": "a.ts"}}'],
  ["Llama JSON with a type", '{"type": "function", "name": "mcp__server__find", "parameters": {}}'],
  ["Llama JSON with a tag", '<|python_tag|>{"name": "read", "parameters": {"path": "a.ts"}}'],
  ["a list of calls", '[{"type": "function", "function": {"name": "read", "arguments": "{}"}}]'],
  ["Granite", '<|tool_call|>[{"name": "read", "arguments": {"path": "a.ts"}}]'],
  [
    "MiniMax",
    '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>',
  ],
  ["gpt-oss", '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "a.ts"}'],
];

const HERMES = '<tool_call>\n{"name": "read", "arguments": {"path": "a.ts"}}\n</tool_call>';

describe("a call in the text of an answer", () => {
  it.each(CALLS)("is known in the format of %s", (_, text) => {
    const called = text.includes("mcp__") ? "mcp__server__find" : "read";
    expect([toolCalledInText(text, TOOLS), toolCalledInText(`${text}\n\n`, TOOLS)]).toEqual([called, called]);
  });

  it.each(CALLS)(
    "is none in the format of %s where it is shown in a fence, in prose, or of another tool",
    (_, text) => {
      const shown = [
        `The model writes this:\n\n\`\`\`\`\n${text}\n\`\`\`\``,
        `${text}\n\nThat is how it calls a tool.`,
        text.replaceAll(/\b(?:read|mcp__server__find)\b/g, "launch"),
      ];
      expect(shown.map((each) => toolCalledInText(each, TOOLS))).toEqual([undefined, undefined, undefined]);
      expect(toolCalledInText(text, [])).toBeUndefined();
    },
  );

  it.each([
    `The parser looks for \`<tool_call>\`, as in \`${HERMES.replaceAll("\n", "")}\``,
    `A call begins with "<tool_call>" and names the tool read, see {"a": 1}`,
    "I read the file with read(path) and found <div></div>",
    'The file holds {"name": "read", "arguments": {}}',
    '{"name": "read", "version": "1.0.0"}',
    '{"name": "read", "arguments": {}, "description": "Reads."}',
    "Vec<read>",
    "",
  ])("is none here: %s", (text) => {
    expect(toolCalledInText(text, TOOLS)).toBeUndefined();
  });
});
