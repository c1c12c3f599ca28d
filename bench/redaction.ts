// What redaction lets through and what it takes for a secret: node bench/redaction.ts [secrets] [folder …]
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createRedaction, secretsOf } from "../src/permission/secrets/create-redaction.ts";
import {
  ENCODINGS,
  numbersFrom,
  OTHER_ENCODINGS,
  randomSecret,
} from "../test/permission/secret-encodings.ts";

const [count = "100000", ...given] = process.argv.slice(2);
const folders =
  given.length > 0 ? given : ["rxjs", "@opentelemetry", "zod"].map((name) => `node_modules/${name}`);
const SEED = 20_260_101;
const MARK = "«redacted:";
const PIECE = 10;
const ALL_ENCODINGS = [...ENCODINGS, ...OTHER_ENCODINGS];

/** Places that say that a value is a secret. */
const PLACES: readonly (readonly [name: string, place: (value: string) => string])[] = [
  ["a setting", (value) => `DB_PASSWORD=${value}\n`],
  ["a setting in quotes", (value) => `export API_TOKEN="${value}"`],
  ["a setting in single quotes", (value) => `SECRET_KEY='${value}'`],
  ["an address", (value) => `postgres://app:${encodeURIComponent(value)}@db.example:5432/app`],
  ["a header", (value) => `Authorization: Bearer ${value}`],
  ["a header in JSON", (value) => `{"authorization":"Bearer ${value}"}`],
  ["a key in JSON", (value) => `{ "apiKey": "${value}" }`],
  ["a line of YAML", (value) => `db:\n  password: ${value}\n`],
  ["an option", (value) => `run --api-key=${value} --fast`],
  ["a parameter", (value) => `GET /x?a=1&access_token=${encodeURIComponent(value)}&b=2`],
];

known(Number(count));
placed(Number(count));
for (const folder of folders) source(folder);

/**
 * Known values in each encoding. A leak is a text without a mark, or one in which ten characters in a row are
 * still there.
 */
function known(total: number): void {
  const random = numbersFrom(SEED);
  const leaks = new Map<string, string[]>();
  let unknown = 0;
  for (let at = 0; at < total; at++) {
    const value = randomSecret(random);
    const secrets = secretsOf({ A_TOKEN: value });
    if (secrets.length === 0) unknown++;
    const redaction = createRedaction({ secrets, shapes: false });
    for (const [name, encode] of ALL_ENCODINGS) {
      const encoded = encode(value);
      const text = redaction.text(`before ${encoded} after`);
      if (
        !text.includes(MARK) ||
        isReadable(encoded, { text: text.replaceAll(/«[^»]*»/g, ""), around: encode("") })
      )
        leaks.set(name, [...(leaks.get(name) ?? []), value]);
    }
  }
  console.log(
    `${total} known values in ${ALL_ENCODINGS.length} encodings; not taken for secrets: ${unknown}`,
  );
  for (const [name] of ALL_ENCODINGS) {
    const found = leaks.get(name) ?? [];
    console.log(`  ${name}: ${found.length} leaks ${found.slice(0, 3).join("   ")}`);
  }
}

function isReadable(
  encoded: string,
  { text, around }: { readonly text: string; readonly around: string },
): boolean {
  for (let at = 0; at + PIECE <= encoded.length; at++) {
    const piece = encoded.slice(at, at + PIECE);
    if (
      /[A-Za-z0-9].*[A-Za-z0-9].*[A-Za-z0-9].*[A-Za-z0-9]/.test(piece) &&
      text.includes(piece) &&
      !around.includes(piece)
    )
      return true;
  }
  return false;
}

/** Unknown values of no known format, by the place they are in. */
function placed(total: number): void {
  const random = numbersFrom(SEED + 1);
  const redaction = createRedaction();
  const leaks = new Map<string, string[]>();
  let fit = 0;
  for (let at = 0; at < total; at++) {
    const value = randomSecret(random);
    if (/[^\w+/=.-]/.test(value)) continue;
    fit++;
    for (const [name, place] of PLACES) {
      if (!redaction.text(place(value)).includes(MARK)) leaks.set(name, [...(leaks.get(name) ?? []), value]);
    }
  }
  console.log(`${fit} unknown values in ${PLACES.length} places`);
  for (const [name] of PLACES) {
    const found = leaks.get(name) ?? [];
    const share = ((found.length / fit) * 100).toFixed(3);
    console.log(`  ${name}: ${found.length} leaks (${share} %) ${found.slice(0, 4).join("   ")}`);
  }
}

/** Marks in source text, with what was taken out. */
function source(folder: string): void {
  const redaction = createRedaction();
  let [files, bytes, marks, ms] = [0, 0, 0, 0];
  const shown: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (!/\.(?:[cm]?[jt]sx?|json|md|py|go|rs|c|h|java|rb|ya?ml|toml|html|css|sh)$/.test(name)) continue;
    if (!statSync(path).isFile()) continue;
    const text = readFileSync(path, "utf8");
    files++;
    bytes += text.length;
    const before = performance.now();
    const after = redaction.text(text);
    ms += performance.now() - before;
    if (after === text) continue;
    const lines = text.split("\n");
    marks += after.split(MARK).length - text.split(MARK).length;
    for (const [at, line] of after.split("\n").entries())
      if (line.includes(MARK) && line.length < 400)
        shown.push(`    ${path}:${at + 1} ${lines[at]?.trim().slice(0, 140)}`);
  }
  const speed = (ms / (bytes / 1024)).toFixed(4);
  console.log(
    `${folder}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB, ${marks} marks, ${speed} ms per KB`,
  );
  for (const line of shown.slice(0, 20)) console.log(line);
}
