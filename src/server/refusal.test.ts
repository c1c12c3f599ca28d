import { expect, test } from "vitest";
import { NO_SESSION_HINT, SESSION_REASONS, sessionError } from "../session/session-error.ts";
import { refusalOf } from "./refusal.ts";

/** As the file system refuses, wrapped by what was to be stored. */
function refused(code: string): ReturnType<typeof refusalOf> {
  const cause = Object.assign(new Error(code), { code });
  const inner = sessionError(`It cannot be written. Put that right${NO_SESSION_HINT}.`, { cause });
  return refusalOf(sessionError(`The journal could not store it: ${inner.message}`, { cause: inner }));
}

test("a disk that takes nothing is told as such, and neither a copy nor a run without a session is offered", () => {
  const detail = "The journal could not store it: It cannot be written. Put that right.";
  const problems = ["ENOSPC", "EROFS", "EIO", "ENOENT"].map((code) => refused(code).problem);
  expect(problems).toEqual([
    { type: "about:blank", title: "Insufficient Storage", status: 507, detail, code: "journal" },
    { type: "about:blank", title: "Insufficient Storage", status: 507, detail, code: "journal" },
    { type: "about:blank", title: "Internal Server Error", status: 500, detail, code: "journal" },
    { type: "about:blank", title: "Not Found", status: 404, detail, code: "not_found" },
  ]);
});

test("only a session that another process works on can be copied", () => {
  const problems = [SESSION_REASONS.inUse, SESSION_REASONS.unreadable, undefined].map((reason) => {
    const { problem } = refusalOf(
      sessionError(`No. Move it away${NO_SESSION_HINT}.`, { details: { reason } }),
    );
    return [problem.status, problem.fits, problem.detail];
  });
  expect(problems).toEqual([
    [409, ["fork"], "No. Move it away."],
    [500, undefined, "No. Move it away."],
    [409, [], "No. Move it away."],
  ]);
});
