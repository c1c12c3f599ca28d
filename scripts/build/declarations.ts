import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { listFiles } from "../gates/source.ts";

/** Writes the declarations of the public entries and of all they reach to `outDir`. Throws with the compiler's words. */
export async function emitDeclarations(root: string, outDir: string): Promise<void> {
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

/** The compiler keeps the `.ts` endings of the sources; beside a `.d.ts` the module is called `.js`. */
function nameDeclaredFiles(path: string): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll(/((?:from|import\() ?"\.[^"]*)\.ts"/g, '$1.js"'));
}
