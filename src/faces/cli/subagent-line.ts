import { callTitle } from "../../app/coding-session/call-text.ts";
import { terminalLine } from "../../app/safe-text.ts";
import type { AgentEvent, SubagentEvent } from "../../core/agent/event.ts";
import { textOf } from "../../core/message/message.ts";
import { circleText } from "../../plugins/loop-guard-plugin.ts";
import type { Style } from "./style.ts";

/** Widest text behind the name of a subagent. */
const MAX_COLUMNS = 90;

/**
 * One line for what a subagent does: each call it begins, and what goes wrong; `undefined` for the rest,
 * since its words are for the agent that asked for them. Several may be at work at once, so each line names
 * its own.
 */
export function subagentLine(event: SubagentEvent, style: Style): string | undefined {
  const { agents, inner } = unwrapped(event);
  const head = `  ${style.dim(`${agents.map((name) => terminalLine(name, 40)).join(" › ")} ·`)}`;
  switch (inner.type) {
    case "tool_intent": {
      const input = terminalLine(callTitle(inner.input), MAX_COLUMNS);
      return `${head} ${inner.name}${input === "" ? "" : ` ${style.dim(input)}`}`;
    }
    case "tool_result": {
      if (inner.status === "ok") return undefined;
      const text = terminalLine(textOf(inner.result.content, "\n"), MAX_COLUMNS * 2);
      return `${head} ${style.red(`✗ ${inner.name}: ${text}`)}`;
    }
    case "retry":
      return `${head} ${style.yellow(`↻ attempt ${inner.attempt}: ${terminalLine(inner.error.message, MAX_COLUMNS * 2)}`)}`;
    case "user_message": {
      if (inner.circle === undefined) return undefined;
      return `${head} ${style.yellow(`is repeating itself: ${terminalLine(circleText(inner.circle), MAX_COLUMNS * 2)}`)}`;
    }
    case "warning":
      return `${head} ${style.yellow(terminalLine(inner.message, MAX_COLUMNS * 2))}`;
    default:
      return undefined;
  }
}

/** What happened in the innermost subagent, and the names on the way to it. */
function unwrapped(event: SubagentEvent): {
  readonly agents: readonly string[];
  readonly inner: Exclude<AgentEvent, SubagentEvent>;
} {
  const agents = [event.agent];
  let inner = event.event;
  while (inner.type === "subagent") {
    agents.push(inner.agent);
    inner = inner.event;
  }
  return { agents, inner };
}
