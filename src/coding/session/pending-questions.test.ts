import { expect, test } from "vitest";
import { createElicit } from "./pending-questions.ts";

const NEVER = new AbortController().signal;

test("a page that a server wants opened is named by the host a browser would ask, and is one of the web", async () => {
  const asked: string[] = [];
  const questions: Parameters<typeof createElicit>[0] = {
    takesValues: true,
    askValue: async ({ reason }) => {
      asked.push(reason);
      return "opened";
    },
  };
  const elicit = createElicit(questions, async () => undefined);
  const urls = [
    "https://example.com/login?a=1",
    "https://g\u0456thub.com/login",
    "https://github.com@evil.example/",
    "https://evil.example/\u202Emoc.elpmaxe",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "no address",
  ];
  const answers: string[] = [];
  for (const url of urls) answers.push((await elicit({ server: "s", message: "m", url }, NEVER)).action);
  expect({ asked, answers }).toEqual({
    asked: [
      "s asks you to open a page of example.com, https://example.com/login?a=1: m",
      "s asks you to open a page of xn--gthub-n2e.com, https://xn--gthub-n2e.com/login: m",
      "s asks you to open a page of evil.example, https://github.com@evil.example/: m",
      "s asks you to open a page of evil.example, https://evil.example/%E2%80%AEmoc.elpmaxe: m",
    ],
    answers: ["accept", "accept", "accept", "accept", "decline", "decline", "decline"],
  });
});
