import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { type ComponentChildren, h, type VNode } from "preact";
import { useMemo } from "preact/hooks";
import { terminalText } from "../../../view/safe-text.ts";
import { useWords } from "../language/language.ts";
import { Code } from "./code.tsx";
import { CopyButton } from "./controls.tsx";

/** Deeper and longer text is shown as written. */
const MAX_DEPTH = 48;
const MAX_CHARS = 200_000;

/** Untrusted Markdown as elements. It loads nothing, and no link leads to code. */
export function Markdown({ text }: { readonly text: string }): VNode {
  const tokens = useMemo(() => parse(text), [text]);
  return (
    <div class="prose" dir="auto">
      {tokens === undefined ? <div class="plain">{terminalText(text)}</div> : renderTokens(tokens, 0)}
    </div>
  );
}

function parse(text: string): readonly Token[] | undefined {
  if (text.length > MAX_CHARS || /^(?:[ \t]*(?:>|[-*+]|\d+[.)])){40}/m.test(text)) return undefined;
  try {
    return lexer(terminalText(text));
  } catch {
    // Nested too deeply to be read.
    return undefined;
  }
}

function renderTokens(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token, key) => {
    if (depth > MAX_DEPTH) return <span key={key}>{token.raw}</span>;
    const element = ELEMENTS.get(token.type);
    if (element === undefined) return <Node key={key} token={token} depth={depth + 1} />;
    return h(element, { key }, "tokens" in token ? renderTokens(token.tokens ?? [], depth + 1) : null);
  });
}

function Node({ token: given, depth }: { readonly token: Token; readonly depth: number }): ComponentChildren {
  const token = given as MarkedToken;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "code":
      return <CodeBlock text={token.text} language={token.lang ?? ""} />;
    case "heading":
      return <Heading level={token.depth}>{renderTokens(token.tokens, depth)}</Heading>;
    case "list":
      return <List token={token} depth={depth} />;
    case "table":
      return <Table token={token} depth={depth} />;
    case "text":
    case "escape":
      return "tokens" in token && token.tokens !== undefined ? renderTokens(token.tokens, depth) : token.text;
    case "codespan":
      return <code>{token.text}</code>;
    case "link":
      return <Link href={token.href}>{renderTokens(token.tokens, depth)}</Link>;
    case "image":
      return <ImageNote address={token.href} text={token.text} />;
    default:
      return "block" in token && token.block ? <div class="plain">{token.raw}</div> : token.raw;
  }
}

/** Tokens that map to one element. */
const ELEMENTS: ReadonlyMap<string, "p" | "blockquote" | "strong" | "em" | "del" | "hr" | "br"> = new Map([
  ["paragraph", "p"],
  ["blockquote", "blockquote"],
  ["strong", "strong"],
  ["em", "em"],
  ["del", "del"],
  ["hr", "hr"],
  ["br", "br"],
]);

/** One level below the headings of the page. */
function Heading({
  level,
  children,
}: {
  readonly level: number;
  readonly children: ComponentChildren;
}): VNode {
  const Tag = HEADINGS[Math.min(level, HEADINGS.length) - 1] ?? "h6";
  return <Tag>{children}</Tag>;
}

const HEADINGS = ["h3", "h4", "h5", "h6"] as const;

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }): VNode {
  const items = token.items.map((item, index) => (
    <li key={index}>
      {item.task && <input type="checkbox" disabled checked={item.checked === true} aria-label={item.text} />}
      {renderTokens(
        item.tokens.filter(({ type }) => type !== "checkbox"),
        depth,
      )}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }): VNode {
  return (
    <div class="sideways">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} scope="col">
                {renderTokens(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{renderTokens(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }): VNode {
  if (!isSafeAddress(href))
    return (
      <>
        {children} <code>{href}</code>
      </>
    );
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** True for addresses that a browser opens without running code on this page. */
export function isSafeAddress(address: string): boolean {
  return /^(?:https?:\/\/|mailto:)[^\s]+$/i.test(address) && URL.canParse(address);
}

function ImageNote({ address, text }: { readonly address: string; readonly text: string }): VNode {
  const words = useWords();
  return (
    <span class="soft">
      {text} <Link href={address}>{words.imageAt(address)}</Link>
    </span>
  );
}

function CodeBlock({ text, language }: { readonly text: string; readonly language: string }): VNode {
  const words = useWords();
  return (
    <div class="code">
      {/* It can be wider than the page, so the keyboard must reach it for scrolling. */}
      <pre tabIndex={0} aria-label={words.codeOf(language)} dir="ltr">
        <code>
          <Code text={text} language={language.split(/[\s{,]/, 1)[0] ?? ""} />
        </code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
}
