import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { assertPackages, type Bundle, type BundledFile, type BundleJob, bundleOf } from "./bundles.ts";

/** The most that a browser has to load before it shows the page, compressed, in kilobytes. */
const FIRST_LOAD_KILOBYTES = 200;

const PAGE_PACKAGES: ReadonlySet<string> = new Set(["eventsource-parser", "marked", "preact"]);

const EXPORT_PACKAGES: ReadonlySet<string> = new Set([...PAGE_PACKAGES, "preact-render-to-string"]);

/** A built page. `firstLoadKilobytes` counts what is needed before anything shows, compressed. */
export interface WebPage extends Pick<Bundle, "files" | "inputs"> {
  readonly firstLoadKilobytes: number;
}

/**
 * Builds the page whose HTML file is `page`: the style sheets it links become one, its script is bundled, and
 * both get names that change with what they hold. Throws when the page has become too big.
 */
export async function buildWebPage(job: BundleJob & { readonly page: string }): Promise<WebPage> {
  const { root, outDir, page } = job;
  const html = readFileSync(join(root, page), "utf8");
  const folder = dirname(page);
  const script = /<script type="module" src="([^"]+)"><\/script>/.exec(html);
  if (script?.[1] === undefined) throw new Error(`${page} has no module script: it could do nothing`);
  const links = [...html.matchAll(/ *<link rel="stylesheet" href="([^"]+)">\n/g)];
  const style = links.map(([, href = ""]) => readFileSync(join(root, folder, href), "utf8")).join("\n");
  const bundle = await bundleOf(
    job,
    {
      input: { page: join(folder, script[1]) },
      platform: "browser",
      transform: { target: "es2023" },
    },
    { entryFileNames: "[name]-[hash].js", chunkFileNames: "[name]-[hash].js", minify: true },
  );
  assertPackages("the page", bundle, PAGE_PACKAGES);
  const sheet = hashedFile(outDir, "style", minifyStyle(style));
  const [entry = "", ...preloads] = bundle.atStart;
  const head = [
    `<link rel="stylesheet" href="${basename(sheet.path)}">`,
    ...preloads.map((path) => `<link rel="modulepreload" href="${basename(path)}">`),
  ];
  const text = links
    .reduce((rest, [link]) => rest.replace(link, ""), html)
    .replace(script[0], `<script type="module" src="${basename(entry)}"></script>`)
    .replace("</head>", `  ${head.join("\n    ")}\n  </head>`);
  const index = { path: join(outDir, "index.html"), text };
  const files = [index, sheet, ...bundle.files];
  const first = files.filter(
    ({ path }) => path === index.path || path === sheet.path || bundle.atStart.includes(path),
  );
  return { files, inputs: bundle.inputs, firstLoadKilobytes: assertFirstLoad(first) };
}

/** Builds what draws a session as a file with the components of the page, for the executable to load. */
export async function buildExport(job: BundleJob & { readonly source: string }): Promise<Bundle> {
  const bundle = await bundleOf(
    job,
    { input: { "export-page": job.source } },
    { entryFileNames: "[name].mjs", minify: true },
  );
  assertPackages("the exported page", bundle, EXPORT_PACKAGES);
  return bundle;
}

function assertFirstLoad(files: readonly BundledFile[]): number {
  const kilobytes = Math.ceil(files.reduce((sum, { text }) => sum + gzipSync(text).length, 0) / 1_000);
  if (kilobytes <= FIRST_LOAD_KILOBYTES) return kilobytes;
  throw new Error(
    `the page needs ${kilobytes} kB before it shows, at most ${FIRST_LOAD_KILOBYTES}: load parts of it when they are asked for`,
  );
}

function hashedFile(outDir: string, name: string, text: string): BundledFile {
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 8);
  return { path: join(outDir, `${name}-${hash}.css`), text };
}

function minifyStyle(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,]) ?/g, "$1")
    .trim();
}
