import { hash } from "node:crypto";
import { Fragment, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { pluralize } from "../../core/base/text.ts";
import type { RunRecord } from "../../evaluation/results-folder.ts";
import {
  changeText,
  comparisonVerdict,
  dollars,
  type EvaluationContent,
  isCounted,
  ratioText,
  type ShareEstimate,
  SUMMARY_COLUMNS,
  shareText,
  summaryCells,
} from "../../evaluation/summarize.ts";
import type { SessionContent } from "../../session/read-session.ts";
import { describeDuration } from "../../tools/shell/describe-result.ts";
import { terminalLine, terminalText } from "../../view/safe-text.ts";
import type { SessionView } from "../../view/view.ts";
import { Items } from "./conversation/block-view.tsx";
import { SessionFeed } from "./conversation/session-feed.ts";
import { useLanguage, useWords } from "./language/language.ts";
import { StaticContext, svgPercent, Table } from "./pictures/chart-parts.tsx";
import { ContextChart } from "./pictures/context-view.tsx";
import { FilesView } from "./pictures/files-view.tsx";
import { TimelineChart } from "./pictures/timeline-view.tsx";
import { Facts } from "./text/controls.tsx";
import { StateMark } from "./text/icons.tsx";

/** Overrides the layout that fills a window. */
const STYLE =
  "main{max-width:1040px;margin:0 auto;padding:16px}main>section>h2{margin:32px 0 12px}.talk{max-width:none;padding:0}.picture-row{display:none}main .facts dd{text-align:left}main>header{margin-bottom:24px}.sideways{overflow-x:auto;margin-top:16px}.t td{padding-right:16px}";

/** A session as one HTML page: the page's components, rendered once. `pageStyle`: its style sheet. */
export function exportPage(content: SessionContent, pageStyle: string): string {
  const feed = new SessionFeed();
  for (const entry of content.entries) feed.apply({ type: "entry", entry });
  feed.apply({ type: "passing", passing: { type: "ready" } });
  const { view } = feed.snapshot;
  const firstMessage = view.items.find((item) => item.type === "user");
  const title =
    terminalLine(firstMessage?.text ?? "", 160) || `Session ${terminalLine(content.sessionId, 200)}`;
  return pageOf(title, <Page {...{ content, title, view }} />, pageStyle);
}

/** The results of an evaluation as a page, like {@link exportPage}. */
export function evaluationPage(content: EvaluationContent, pageStyle: string): string {
  return pageOf(content.title, <EvaluationReport content={content} />, pageStyle);
}

/**
 * A self-contained page: it contains no script and nothing that waits for one, and its content security
 * policy forbids everything external.
 */
function pageOf(title: string, body: VNode, pageStyle: string): string {
  const style = `${pageStyle}${STYLE}`;
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'`;
  const head = renderStatic(
    <head>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="referrer" content="no-referrer" />
      <title>{title}</title>
    </head>,
  );
  const withStyle = head.replace("</head>", () => `<style>${style}</style></head>`);
  return `<!doctype html>\n<html lang="en">${withStyle}<body>${renderStatic(body)}</body></html>\n`;
}

type RenderOptions = typeof options & { readonly errorBoundaries?: boolean };

/**
 * Static markup without control characters: buttons that name something become text, other controls are
 * removed.
 */
function renderStatic(node: VNode): string {
  const before = { ...(options as RenderOptions) };
  Object.assign(options, { errorBoundaries: true });
  options.vnode = (vnode) => {
    const { type, props } = vnode as VNode<{ readonly class?: string; readonly children?: unknown }>;
    if (type === "button" && props.class === "link")
      Object.assign(vnode, { type: "span", props: { children: props.children } });
    else if (type === "button" || type === "input" || type === "select")
      Object.assign(vnode, { type: Fragment, props: {} });
    before.vnode?.(vnode);
  };
  try {
    return terminalText(renderToString(<StaticContext.Provider value={true}>{node}</StaticContext.Provider>));
  } finally {
    Object.assign(options, { errorBoundaries: undefined, vnode: undefined, ...before });
  }
}

interface PageProps {
  readonly content: SessionContent;
  readonly title: string;
  readonly view: SessionView;
}

function Page({ content, title, view }: PageProps): VNode {
  const words = useWords();
  const { entries } = content;
  const { items } = view;
  return (
    <main>
      <Heading {...{ content, title, view }} />
      <section aria-label={words.conversation}>
        <Items items={items} />
      </section>
      <section>
        <h2>{words.views.timeline}</h2>
        <TimelineChart entries={entries} />
      </section>
      <section>
        <h2>{words.views.context}</h2>
        <ContextChart entries={entries} />
      </section>
      <section>
        <h2>{words.views.files}</h2>
        <FilesView entries={entries} />
      </section>
    </main>
  );
}

function Heading({ content, title, view }: PageProps): VNode {
  const { sessionId, header, entries, damaged, otherTypes } = content;
  const { model, costUsd } = view;
  const { words, money, moment } = useLanguage();
  const facts: readonly (readonly [string, string | undefined])[] = [
    [words.sessionViews, sessionId],
    [words.folder, header?.cwd],
    [words.copyOf, header?.forkedFrom?.sessionId],
    [words.importedFrom, header?.importedFrom?.program],
    [words.model, model],
    [words.cost, costUsd === undefined ? words.costUnknown : money(costUsd)],
    [words.started, moment(header?.time ?? entries[0]?.time ?? Number.NaN, 0)],
  ];
  return (
    <header>
      <h1>{title}</h1>
      <Facts
        rows={facts.map(([name, value]) => [name, typeof value === "string" ? terminalLine(value, 500) : ""])}
      />
      {damaged.length > 0 && (
        <p class="notice bad">
          {words.damaged(
            damaged
              .slice(0, 50)
              .map(({ line }) => line)
              .join(", "),
          )}
        </p>
      )}
      {Object.entries(otherTypes).map(([type, count]) => (
        <p key={type} class="notice warn">
          {words.notShown(count, terminalLine(type, 80))}
        </p>
      ))}
    </header>
  );
}

function EvaluationReport({ content }: { readonly content: EvaluationContent }): VNode {
  const { title, records, summaries, comparisons, titles, open } = content;
  const tasks = [...Map.groupBy(records, ({ task }) => task)].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const rows = summaries.map((summary) => ({ summary, cells: summaryCells(summary) }));
  return (
    <main>
      <header>
        <h1>{title}</h1>
        {open > 0 && <p class="note warn">Not complete: {pluralize(open, "run")} still to be made.</p>}
      </header>
      <div class="sideways">
        <Table
          title="Models"
          rows={rows}
          columns={[
            { head: "model", cell: ({ summary }) => summary.model },
            {
              head: "share",
              isBare: true,
              look: "barc",
              cell: ({ summary: { solved } }) => solved && <Share {...solved} />,
            },
            ...SUMMARY_COLUMNS.slice(1).map((head, at) => ({
              head,
              look: "r",
              cell: ({ cells }: (typeof rows)[number]) => cells[at + 1],
            })),
            { head: "all runs", look: "r", cell: ({ summary }) => dollars(summary.totalUsd) },
          ]}
        />
      </div>
      <p class="dim">
        Figures of a run are medians. The interval takes the task as the unit: it says how far the share of
        solved tasks may be off when the tasks are a sample of many.
      </p>
      {comparisons.map((each) => (
        <section key={`${each.a} ${each.b}`}>
          <h2>
            {each.a} → {each.b}
          </h2>
          <p>{comparisonVerdict(each)}</p>
          {[
            shareText(each),
            each.better.length > 0 && `better: ${changeText(each.better)}`,
            each.worse.length > 0 && `worse: ${changeText(each.worse)}`,
            ratioText(each),
          ].map(
            (line) =>
              line !== false &&
              line !== "" && (
                <p key={line} class="dim">
                  {line}
                </p>
              ),
          )}
        </section>
      ))}
      <section>
        <h2>Tasks</h2>
        {tasks.map(([task, runs]) => (
          <TaskRuns key={task} task={task} title={titles.get(task) ?? task} runs={runs} />
        ))}
      </section>
    </main>
  );
}

/** The share as a bar, with its interval in another colour over its end. */
function Share({ share, low, high }: ShareEstimate): VNode {
  return (
    <svg width="100%" height="6" aria-hidden="true">
      <rect class="trk" width="100%" height="6" rx="3" />
      <rect class="t-edit" width={svgPercent(100 * share)} height="6" rx="3" />
      <rect
        class="t-wait"
        x={svgPercent(100 * low)}
        y="2"
        width={svgPercent(100 * (high - low))}
        height="2"
      />
    </svg>
  );
}

interface TaskProps {
  readonly task: string;
  readonly title: string;
  readonly runs: readonly RunRecord[];
}

function TaskRuns({ task, title, runs }: TaskProps): VNode {
  const countedRuns = runs.filter(isCounted);
  const solved = countedRuns.filter((run) => run.solved).length;
  const isSolved = solved === countedRuns.length && solved > 0;
  return (
    <details class="step" open={!isSolved}>
      <summary>
        <StateMark mark={isSolved ? "done" : "fail"} />
        <span class="v">{title}</span>
        <span class="mono cut">{task}</span>
        <span class="meta num">
          {solved} of {countedRuns.length}
        </span>
      </summary>
      <div class="sideways">
        <Table
          title="Runs"
          rows={runs}
          columns={[
            { head: "", cell: ({ model, repeat }) => `${model} · ${repeat}` },
            { head: "result", cell: (run) => <Result run={run} /> },
            { head: "reason", look: "plain", cell: ({ reason }) => <span dir="auto">{reason}</span> },
            {
              head: "end",
              cell: ({ stop, refused }) =>
                `${stop}${refused === 0 ? "" : `, ${pluralize(refused, "call")} refused`}`,
            },
            { head: "turns", look: "r", cell: ({ turns }) => turns },
            { head: "tokens in", look: "r", cell: ({ inputTokens }) => inputTokens },
            { head: "out", look: "r", cell: ({ outputTokens }) => outputTokens },
            { head: "cost", look: "r", cell: ({ costUsd }) => dollars(costUsd ?? undefined) },
            { head: "time", look: "r", cell: ({ ms }) => describeDuration(ms) },
            { head: "session", cell: ({ session }) => <code>{session}</code> },
          ]}
        />
      </div>
    </details>
  );
}

function Result({ run: { error, solved } }: { readonly run: RunRecord }): VNode {
  if (error !== undefined) return <span class="warn">failed</span>;
  return solved ? <span class="good">solved</span> : <span class="bad">not solved</span>;
}
