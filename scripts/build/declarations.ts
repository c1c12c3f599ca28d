import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import type { PublicEntry } from "../gates/public-entries.ts";
import { listFiles } from "../gates/source.ts";

/** What declarations are made of. */
export interface DeclarationJob {
  readonly root: string;
  readonly outDir: string;
  readonly entries: readonly PublicEntry[];
}

/**
 * Writes the declarations of the public entries to `outDir`: one file for each, and one for what several of
 * them share. Throws with the compiler's words.
 */
export async function buildDeclarations({ root, outDir, entries }: DeclarationJob): Promise<void> {
  const emitted = join(root, ".cache/declarations");
  rmSync(emitted, { recursive: true, force: true });
  await emitDeclarations(root, emitted);
  const build = await rolldown({
    cwd: emitted,
    input: Object.fromEntries(entries.map(({ output }) => [output, join(emitted, `${output}.d.ts`)])),
    external: (id) => !id.startsWith(".") && !id.startsWith(emitted),
    plugins: [dts({ dtsInput: true, generator: "oxc", tsconfig: false })],
    // A remark about the time is none about the result.
    checks: { bundlerTimings: false },
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await build.write({
    dir: outDir,
    entryFileNames: "[name].ts",
    chunkFileNames: "chunks/[name]-[hash].d.ts",
    minifyInternalExports: false,
  });
  await build.close();
  rmSync(emitted, { recursive: true });
}

/**
 * Writes the declarations of all that the public entries reach, each beside the others as the sources are.
 */
async function emitDeclarations(root: string, outDir: string): Promise<void> {
  const compiler = join(import.meta.dirname, "../../node_modules/.bin/tsc");
  const run = promisify(execFile);
  await run(compiler, ["-p", "tsconfig.build.json", "--outDir", outDir], { cwd: root }).catch(
    (error: unknown) => {
      const { stdout = "" } = error as { readonly stdout?: string };
      throw new Error(`tsc -p tsconfig.build.json failed:\n${stdout}`, { cause: error });
    },
  );
  for (const path of listFiles(outDir, "", /\.d\.ts$/)) nameDeclaredFiles(join(outDir, path));
}

/**
 * The compiler keeps the `.ts` endings of the sources; beside a `.d.ts` the module is called `.js`. What a
 * comment links to has no file of its own.
 */
function nameDeclaredFiles(path: string): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text
      .replaceAll(/\{@link import\("[^"]*"\)\./g, "{@link ")
      .replaceAll(/((?:from|import\() ?"\.[^"]*)\.ts"/g, '$1.js"'),
  );
}
