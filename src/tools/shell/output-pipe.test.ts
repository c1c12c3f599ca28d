import { readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { discardPipe, OutputPipes } from "./output-folder.ts";

test("no pipe has a name once it is made, and what is written comes out", async () => {
  const folder = tempFolder();
  const pipes = new OutputPipes(async () => folder);
  onTestFinished(() => pipes.dispose());
  await pipes.prepare();
  const names = readdirSync(folder);
  const pipe = await pipes.take();
  if (pipe === undefined) throw new Error("this system has no named pipes");
  writeSync(pipe.writer, "text");
  const [bytes] = (await pipe.reader.take(1).toArray()) as readonly Buffer[];
  discardPipe(pipe);
  expect({ names, text: bytes?.toString() }).toEqual({ names: [], text: "text" });
});

test("where none can be made there is none, and the next call tries again", async () => {
  let folder = join(tempFolder(), "absent");
  const pipes = new OutputPipes(async () => folder);
  onTestFinished(() => pipes.dispose());
  const none = await pipes.take();
  folder = tempFolder();
  const pipe = await pipes.take();
  if (pipe !== undefined) discardPipe(pipe);
  expect([none, pipe === undefined]).toEqual([undefined, false]);
});
