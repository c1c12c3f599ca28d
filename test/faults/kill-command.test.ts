import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { modelServer } from "../e2e/command.ts";
import { sessionPlace } from "../e2e/session-place.ts";
import { isFullSweep } from "./sweep.ts";

const TURNS = 20;
/** Lines of standard output after which the command is killed: the first, then an answer and a result a turn. */
const LINES = isFullSweep ? Array.from({ length: 2 * TURNS + 1 }, (_, at) => at + 1) : [1, 2, 3, 18];

it.each(LINES)(
  "has kept what it told when it is killed at line %i of its output, and goes on",
  async (line) => {
    const place = sessionPlace();
    const server = await modelServer((_request, index) =>
      index < TURNS ? calls("bash", { command: `echo ${index} >> effects` }, `call_${index}`) : says("done"),
    );
    const command = place.start(["-p", "--yolo", "--json", "go"], server);
    let lines = 0;
    command.child.stdout?.on("data", (text: string) => {
      lines += text.split("\n").length - 1;
      if (lines >= line) command.child.kill("SIGKILL");
    });
    const killed = await command.end;
    const told = killed.stdout.split("\n").slice(0, -1).filter(isAboutMessage);
    const file = place.files()[0];
    const recorded = file === undefined ? "" : readFileSync(file, "utf8");
    const lost = told.flatMap(callIds).filter((id) => !recorded.includes(id));
    expect({ code: killed.code, lost }).toEqual({ code: null, lost: [] });

    const goesOn = recorded === "" ? [] : ["-c"];
    const end = await place.run(["-p", ...goesOn, "--yolo", "go on"], server);
    const effects = existsSync(join(place.cwd, "effects"))
      ? readFileSync(join(place.cwd, "effects"), "utf8").trimEnd().split("\n")
      : [];
    expect({
      code: end.code,
      stdout: end.stdout,
      repeated: effects.filter((n, at) => effects.indexOf(n) !== at),
      refused: server.requests.flatMap(({ violations }) => violations),
    }).toEqual({ code: 0, stdout: "done\n", repeated: [], refused: [] });
  },
);

function isAboutMessage(line: string): boolean {
  return line.startsWith('{"type":"assistant"') || line.startsWith('{"type":"user"');
}

function callIds(line: string): readonly string[] {
  return [...line.matchAll(/"call_\d+"/g)].map(([id]) => id);
}
