import { hash } from "node:crypto";
import { Fragment, options, type VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { SessionContent } from "../../session/read-session.ts";
import { terminalLine, terminalText } from "../../view/safe-text.ts";
import { Items } from "./conversation/block-view.tsx";
import { SessionFeed } from "./conversation/session-feed.ts";
import { useFormats, useWords } from "./language/language.ts";
import { StillContext } from "./pictures/chart-kit.tsx";
import { ContextPicture } from "./pictures/context-view.tsx";
import { FilesView } from "./pictures/files-view.tsx";
import { TimelinePicture } from "./pictures/timeline-view.tsx";
import { Facts } from "./text/controls.tsx";

/** Takes the place of the frame that fills a window. */
const STYLE =
  "main{max-width:1040px;margin:0 auto;padding:16px}main>section>h2{margin:32px 0 12px}.talk{max-width:none;padding:0}.picture-row{display:none}main .facts dd{text-align:left}main>header{margin-bottom:24px}";

/**
 * A session as one HTML page that needs nothing else: the components of the page, drawn once. Holds no script
 * and nothing that waits for one, and forbids by its content security policy all that is not in it.
 * `pageStyle`: the style sheet of the page.
 */
export function exportPage(content: SessionContent, pageStyle: string): string {
  const style = `${pageStyle}${STYLE}`;
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'`;
  const head = still(
    <head>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="referrer" content="no-referrer" />
      <title>{`Session ${terminalLine(content.sessionId, 200)}`}</title>
    </head>,
  );
  const withStyle = head.replace("</head>", () => `<style>${style}</style></head>`);
  return `<!doctype html>\n<html lang="en">${withStyle}<body>${still(<Page content={content} />)}</body></html>\n`;
}

type RenderOptions = typeof options & { readonly errorBoundaries?: boolean };

/**
 * Markup of what cannot act, without control characters: buttons that name something become text, other
 * controls go.
 */
function still(node: VNode): string {
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
    return terminalText(renderToString(<StillContext.Provider value={true}>{node}</StillContext.Provider>));
  } finally {
    Object.assign(options, { errorBoundaries: undefined, vnode: undefined, ...before });
  }
}

function Page({ content }: { readonly content: SessionContent }): VNode {
  const words = useWords();
  const { entries } = content;
  const feed = new SessionFeed();
  for (const entry of entries) feed.apply({ type: "entry", entry });
  feed.apply({ type: "passing", passing: { type: "ready" } });
  const { items, model, costUsd } = feed.now.view;
  return (
    <main>
      <Heading content={content} model={model} costUsd={costUsd} />
      <section aria-label={words.conversation}>
        <Items items={items} />
      </section>
      <section>
        <h2>{words.views.timeline}</h2>
        <TimelinePicture entries={entries} />
      </section>
      <section>
        <h2>{words.views.context}</h2>
        <ContextPicture entries={entries} />
      </section>
      <section>
        <h2>{words.views.files}</h2>
        <FilesView entries={entries} />
      </section>
    </main>
  );
}

function Heading({
  content: { sessionId, header, entries, damaged, otherTypes },
  model,
  costUsd,
}: {
  readonly content: SessionContent;
  readonly model: string;
  readonly costUsd: number | undefined;
}): VNode {
  const words = useWords();
  const { money, moment } = useFormats();
  const facts: readonly (readonly [string, string | undefined])[] = [
    [words.folder, header?.cwd],
    [words.copyOf, header?.forkedFrom?.sessionId],
    [words.importedFrom, header?.importedFrom?.program],
    [words.model, model],
    [words.cost, costUsd === undefined ? words.costUnknown : money(costUsd)],
    [words.started, moment(header?.time ?? entries[0]?.time ?? Number.NaN, 0)],
  ];
  return (
    <header>
      <h1>{`${words.sessionViews} ${terminalLine(sessionId, 200)}`}</h1>
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
