import { expect, test } from "vitest";
import { ServerProblem } from "../../server/create-reader.ts";
import { WORDS } from "./language/language.ts";
import { pageErrorText } from "./work.tsx";

test("a page whose server has another token by now is told to open the new address, not what programs send", () => {
  const refused = (status: number): string => {
    const detail = "Send the token.";
    return pageErrorText(
      new ServerProblem({ type: "about:blank", title: "No", status, detail, code: "x" }),
      WORDS.en,
    );
  };
  expect([refused(401), refused(409)]).toEqual([WORDS.en.signInFirst, "Send the token."]);
});
