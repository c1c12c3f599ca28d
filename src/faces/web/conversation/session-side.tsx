import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { modeName } from "../../../view/mode-names.ts";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { changedFiles } from "../pictures/files-data.ts";
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
  const { view, state } = useOpenSession();
  const { todo } = view;
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
  const { entries, route, detail } = useOpenSession();
  const cwd = detail?.cwd;
  const files = useMemo(
    () => changedFiles(entries, { cwd }).filter(({ kind }) => kind !== "unchanged"),
    [entries, entries.length, cwd],
  );
  if (files.length === 0) return null;
  const sum = (name: "added" | "removed"): number => files.reduce((all, file) => all + file[name], 0);
  return (
    <Part
      title={words.filesChanged}
      aside={<LineCounts lines={{ added: sum("added"), removed: sum("removed") }} />}
    >
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
