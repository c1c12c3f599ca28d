import { QuestionPanel, type QuestionPanelOptions } from "./question-panel.ts";
import { ValuePanel } from "./value-panel.ts";

/** The panel of a question: values are typed, everything else is chosen. */
export function panelForQuestion(options: QuestionPanelOptions): QuestionPanel | ValuePanel {
  return options.question.type === "elicitation" ? new ValuePanel(options) : new QuestionPanel(options);
}
