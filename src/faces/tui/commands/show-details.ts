import { Pager } from "../panels/pager.ts";
import { detailLines } from "../views/detail-lines.ts";
import { wholeQuestion } from "../views/question-lines.ts";
import type { Control } from "./control.ts";

/** Shows all of the question that is open, else calls and thinking unfolded. */
export function openDetails({ screen }: Control): void {
  const { session, question } = screen;
  if (session === undefined) return;
  const asked = question?.question;
  const panel: Pager = new Pager({
    title: asked === undefined ? "Calls and thinking" : "What is asked",
    rows: (context) =>
      asked === undefined ? detailLines(session.view.items, context) : wholeQuestion(asked, context),
    onClose: () => {
      question?.disturb();
      screen.close(panel);
    },
    fromEnd: asked === undefined,
  });
  screen.open(panel);
}
