import { expect, test } from "vitest";
import { ServerProblem } from "../../server/create-reader.ts";
import { faultText } from "./announce.tsx";
import { ENGLISH } from "./language/english.ts";

test("a page whose server has another token by now is told to open the new address, not what programs send", () => {
  const refused = (status: number): string => {
    const detail = "Send the token.";
    return faultText(
      new ServerProblem({ type: "about:blank", title: "No", status, detail, code: "x" }),
      ENGLISH,
    );
  };
  expect([refused(401), refused(409)]).toEqual([ENGLISH.signInFirst, "Send the token."]);
});
