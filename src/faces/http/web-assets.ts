import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { WebAsset } from "../../server/handler-options.ts";

const TYPES: { readonly [ending: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

/** The files of a page in a folder, by their paths: those that were there at the first request, no other. */
export function webAssets(folder: string): (path: string) => Promise<WebAsset | undefined> {
  let names: ReadonlySet<string> | undefined;
  const assets = new Map<string, WebAsset>();
  return async (path) => {
    const name = path === "/" ? "index.html" : path.slice(1);
    names ??= namesIn(folder);
    if (!names.has(name)) return undefined;
    let asset = assets.get(name);
    if (asset === undefined) {
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      // What the page itself names has a name that changes with it.
      const isImmutable = /[-.][\w-]{8,}\.\w+$/.test(name) && extname(name) !== ".html";
      assets.set(name, (asset = { bytes: readFileSync(join(folder, name)), type, isImmutable }));
    }
    return asset;
  };
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return new Set(
      entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) =>
          join(parentPath, name)
            .slice(folder.length + 1)
            .replaceAll("\\", "/"),
        ),
    );
  } catch {
    // Run from its sources, before a page was built.
    return new Set();
  }
}
