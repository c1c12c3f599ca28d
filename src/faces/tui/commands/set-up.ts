import { Picker } from "../panels/picker.ts";
import type { Control } from "./control.ts";

/** What can be done where no model was found. */
export interface SetUp {
  /** What is missing, in one sentence or two. */
  readonly message: string;
  readonly again: () => void;
  readonly demo: () => void;
  readonly leave: () => void;
}

/** Keys that most people have one of. */
const VARIABLES = [
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "DEEPSEEK_API_KEY",
  "OPENROUTER_API_KEY",
];

/** Shows what to do when there is no model: which variables hold keys, where a local server is looked for, and the demo. */
export function openSetUp(control: Control, setUp: SetUp): void {
  const panel: Picker<() => void> = new Picker<() => void>({
    title: "No model was found",
    items: [
      {
        label: "Set a key and start again",
        note: "export one of these variables",
        value: () => {
          control.print([
            "Set one of these and start nano-agent again:",
            ...VARIABLES.map((name) => `  export ${name}=…`),
          ]);
          setUp.leave();
        },
        preview: () => VARIABLES,
      },
      {
        label: "Look again for a local server",
        note: "Ollama, LM Studio, llama.cpp",
        value: setUp.again,
        preview: () => [
          "http://127.0.0.1:11434  Ollama",
          "http://127.0.0.1:1234   LM Studio",
          "http://127.0.0.1:8080   llama.cpp",
        ],
      },
      { label: "Watch the demo", note: "needs no key", value: setUp.demo },
      { label: "Leave", value: setUp.leave },
    ],
    onChoose: (choose) => {
      control.screen.close(panel);
      choose();
      if (choose === setUp.demo) openSetUp(control, setUp);
    },
    onCancel: setUp.leave,
  });
  control.screen.open(panel);
}
