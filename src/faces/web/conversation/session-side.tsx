import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { modeName } from "../../../view/mode-names.ts";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import type { ViewItem } from "../../../view/view.ts";
import { diffsIn } from "../../../view/view-fold.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { type ChangedFile, changedFiles } from "../pictures/files-data.ts";
import { hrefOf } from "../route.ts";
import { CopyButton, Facts, Money, Part } from "../text/controls.tsx";
import { FileLine, LineCounts } from "../text/diff-view.tsx";
import { StateMark } from "../text/icons.tsx";
import { Markdown } from "../text/markdown.tsx";
import { useOpenSession } from "./session-scope.ts";

/** The column next to a conversation: todos, changed files, and the session's figures. */
export function SessionSide(): VNode {
  const { words, clock, count } = useLanguage();
  const { view, detail, mode } = useOpenSession();
  const { usedTokens } = view.context;
  const windowTokens = detail?.windowTokens;
  const share = windowTokens === undefined ? undefined : Math.min(1, usedTokens / windowTokens);
  return (
    <aside class="side" tabIndex={-1} aria-label={words.details}>
      <TodoList />
      {view.plan !== undefined && (
        <section>
          <details>
            <summary>
              <h2>{words.plan}</h2>
            </summary>
            <Markdown text={view.plan} />
          </details>
        </section>
      )}
      <FilesChanged />
      {usedTokens > 0 && (
        <Part
          title={words.views.context}
          aside={
            share === undefined
              ? count(usedTokens)
              : `${count(usedTokens)} ${words.ofWindow(count(windowTokens ?? 0))} · ${Math.round(100 * share)}%`
          }
        >
          {share !== undefined && (
            <svg class="gauge" height="8" aria-hidden="true">
              <rect class="t-none" width="100%" height="8" />
              <rect class={share >= 0.8 ? "t-wait" : "t-bash"} width={`${100 * share}%`} height="8" />
            </svg>
          )}
        </Part>
      )}
      <Part title={words.sessionViews}>
        <Facts
          rows={[
            [words.mode, mode && <span class={`mode-${modeName(mode)}`}>{modeName(mode)}</span>],
            [words.model, terminalLine(view.model, 80)],
            [words.cost, <Money key="cost" spent={view} />],
            [words.started, detail && clock(detail.createdAt)],
          ]}
        />
      </Part>
      {detail?.goOn !== undefined && (
        <section>
          <CopyButton text={detail.goOn} look="" icon="terminal">
            {words.goOn}
          </CopyButton>
        </section>
      )}
    </aside>
  );
}

function TodoList(): VNode | null {
  const words = useWords();
  const { todo, state } = useOpenSession().view;
  if (todo.length === 0) return null;
  const marks = {
    pending: "todo",
    in_progress: state === "idle" ? "cut" : "run",
    completed: "done",
  } as const;
  const done = todo.filter(({ status }) => status === "completed").length;
  return (
    <Part title={words.todo} aside={words.countOf(done, todo.length)}>
      <ul class="todo">
        {todo.map(({ content, status }, index) => (
          <li key={index} class={status === "completed" ? "ok" : status === "in_progress" ? "on" : ""}>
            <StateMark mark={marks[status]} name={words.todoState[status]} />
            {terminalText(content)}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function FilesChanged(): VNode | null {
  const words = useWords();
  const { entries, view, route, detail } = useOpenSession();
  const cwd = detail?.cwd;
  // Folding a long session takes longer than a frame, and few entries change files.
  const files = useMemo((): readonly FileSum[] => {
    const fromCheckpoints = changedFiles(entries, { cwd });
    return fromCheckpoints.length > 0
      ? fromCheckpoints.filter(({ kind }) => kind !== "unchanged")
      : filesIn(view.items);
  }, [entries, entries.findLast(isOfFiles), cwd]);
  if (files.length === 0) return null;
  return (
    <Part title={words.filesChanged} aside={<LineCounts lines={files} />}>
      {files.map((file) => (
        <a
          key={file.path}
          class="fl"
          href={hrefOf({ type: "session", id: route.id, view: "files", entry: file.path })}
        >
          <FileLine path={file.path} kind={file.kind} lines={file} />
        </a>
      ))}
    </Part>
  );
}

type FileSum = Pick<ChangedFile, "path" | "kind" | "added" | "removed">;

function isOfFiles(entry: JournalEntry): boolean {
  if (entry.type === "tool_result") return entry.metadata?.["diff"] !== undefined;
  return entry.type === "checkpoint" || entry.type === "rollback" || entry.type === "rollback_end";
}

/** The files changed according to the diffs of call results, if there are no checkpoints. */
function filesIn(items: readonly ViewItem[]): readonly FileSum[] {
  return [...Map.groupBy(diffsIn(items), ({ path }) => path)].map(([path, diffs]) => ({
    path,
    kind: diffs[0]?.isNew === true ? "created" : "changed",
    added: diffs.reduce((sum, { added }) => sum + added, 0),
    removed: diffs.reduce((sum, { removed }) => sum + removed, 0),
  }));
}
