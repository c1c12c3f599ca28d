import fc from "fast-check";
import { expect, test } from "vitest";
import { blockedNotes } from "./blocked-notes.ts";

const LIMITS = {
  writable: ["/work/app", "/tmp"],
  temporary: "/tmp",
  protected: ["/work/app/.git/hooks", "/work/app/nano-agent.json"],
  placeholders: [],
  unreadable: ["/work/app/hidden"],
  unasked: [],
  domains: [],
};

function notes(output: string, refused: readonly string[] = [], failed = true): readonly string[] {
  return blockedNotes(LIMITS, { cwd: "/work/app", output, failed, refused });
}

const ALLOW = "The user can allow it: sandbox.allowWrite";

test.each([
  [
    "a shell",
    "/bin/bash: line 1: /srv/x: Read-only file system",
    `[sandbox: no writing to /srv/x. ${ALLOW} ["/srv/x"] in their config]`,
  ],
  [
    "a program, by a relative path",
    "touch: cannot touch '../x': Read-only file system",
    `[sandbox: no writing to /work/x. ${ALLOW} ["/work/x"] in their config]`,
  ],
  [
    "Node",
    "Error: EROFS: read-only file system, open '/srv/q'",
    `[sandbox: no writing to /srv/q. ${ALLOW} ["/srv/q"] in their config]`,
  ],
  [
    "Python",
    "OSError: [Errno 30] Read-only file system: '/srv/y'",
    `[sandbox: no writing to /srv/y. ${ALLOW} ["/srv/y"] in their config]`,
  ],
  [
    "Git at its settings",
    "error: could not write config file .git/hooks: Device or resource busy",
    "[sandbox: /work/app/.git/hooks cannot be changed by commands; no setting allows it, the user can do it]",
  ],
  [
    "a guarded file",
    "sh: 1: nano-agent.json: Permission denied",
    "[sandbox: /work/app/nano-agent.json cannot be changed by commands; no setting allows it, the user can do it]",
  ],
  [
    "a hidden file",
    "cat: hidden/key: No such file or directory",
    "[sandbox: /work/app/hidden/key is hidden by sandbox.denyRead in the user's config]",
  ],
  [
    "a fault without a path",
    "mount failed: Read-only file system",
    "[sandbox: commands write below /work/app, /tmp only. The user can allow more: sandbox.allowWrite in their config]",
  ],
  [
    "a name that cannot be resolved",
    "curl: (6) Could not resolve host: a.example",
    "[sandbox: commands have no network. The user can allow a host: sandbox.allowDomains in their config]",
  ],
])("%s is told what stopped it", (_who, output, note) => {
  expect(notes(output)).toEqual([note]);
});

test("hosts that the runtime refused are named once, whatever the program said", () => {
  const refused = [
    "deny network-outbound a.example:443 (not allowed)",
    "deny network-outbound a.example:443 (not allowed)",
    "deny network-outbound b.example:80 (not allowed)",
  ];
  expect(notes("", refused, false)).toEqual([
    '[sandbox: no network to a.example:443, b.example:80. The user can allow it: sandbox.allowDomains ["a.example","b.example"] in their config]',
  ]);
});

test("faults that have nothing to do with the sandbox get no note", () => {
  const output = [
    "cat: missing: No such file or directory",
    "mkdir: cannot create directory '/work/app/x': Permission denied",
    "rm: cannot remove 'busy': Device or resource busy",
    "make: *** [all] Error 1",
  ].join("\n");
  expect(notes(output)).toEqual([]);
});

test("any output is read without trouble", () => {
  const words = fc.constantFrom(
    "/",
    "'",
    "Read-only file system",
    ": ",
    "x",
    "\n",
    "EROFS",
    "permission denied",
    "..",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => {
      for (const note of notes(parts.join(""))) expect(note).toMatch(/^\[sandbox: /);
    }),
  );
});
