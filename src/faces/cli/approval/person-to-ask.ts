import type { CodingSession } from "../../../app/coding-session/coding-session.ts";
import type { ApprovalPrompt } from "../../../permission/approval-prompt.ts";
import { isTerminal, type Output } from "../output.ts";
import { stdinKind } from "../read-stdin.ts";
import type { OutputFormat } from "../run-flags.ts";
import type { Style } from "../style.ts";

/** What decides whether there is somebody to ask. */
export interface PersonOptions {
  readonly outputFormat: OutputFormat;
  readonly inputFormat: "text" | "stream-json";
  readonly stderr: Output;
  readonly style: Style;
  /** See {@link import("./terminal-approval.ts").TerminalApprovalOptions.hold}. */
  readonly hold: () => () => void;
}

/**
 * A way to ask the person who started a run; `undefined` where nobody can be asked, and every question is a
 * no: unless standard input and standard error are both a terminal, and the output is text for people.
 */
export function personToAsk(options: PersonOptions): ApprovalPrompt | undefined {
  const { outputFormat, inputFormat, stderr } = options;
  if (outputFormat !== "text" || inputFormat !== "text") return undefined;
  if (!stderr.isTerminal || stdinKind() !== "terminal" || !isTerminal(0)) return undefined;
  return lazily(async () => {
    const [{ TerminalApproval }, { terminalKeys }] = await Promise.all([
      import("./terminal-approval.ts"),
      import("./terminal-keys.ts"),
    ]);
    return new TerminalApproval({
      keys: terminalKeys,
      output: stderr,
      style: options.style,
      width: () => process.stderr.columns || 80,
      hold: options.hold,
      onInterrupt: () => void process.kill(process.pid, "SIGINT"),
      onSuspend: (resumed) => {
        process.once("SIGCONT", resumed);
        process.kill(0, "SIGTSTP");
      },
    });
  });
}

/** Lets a person answer the questions of a session, as they come. */
export function answerQuestions(session: CodingSession, person: ApprovalPrompt): void {
  session.onQuestion(async (question, signal) => {
    const { id, callId = "", tool = "", input = {}, agent, reason, parts = [], choices } = question;
    const [part] = parts;
    const [rule, wider] = choices.flatMap((each) => (each.choice === "session" ? (each.rule ?? []) : []));
    const reply = await person.ask({
      callId,
      tool,
      input,
      reason,
      canAlways: choices.some(({ choice }) => choice === "always"),
      signal,
      ...(agent === undefined ? {} : { agent }),
      ...(part === undefined ? {} : { part: part.text }),
      ...(rule === undefined ? {} : { rule }),
      ...(wider === undefined ? {} : { wider }),
    });
    const isWider = "wider" in reply && reply.wider === true && wider !== undefined;
    session.answer(id, isWider ? { choice: reply.choice, rule: wider } : reply);
  });
}

/** A start pays for everything it loads: what asks is loaded with the first question. */
function lazily(load: () => Promise<ApprovalPrompt>): ApprovalPrompt {
  let loaded: Promise<ApprovalPrompt> | undefined;
  const prompt = (): Promise<ApprovalPrompt> => {
    loaded ??= load();
    return loaded;
  };
  return {
    ask: async (question) => (await prompt()).ask(question),
    tell: (message) => void prompt().then((each) => each.tell(message)),
  };
}
