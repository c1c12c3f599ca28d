import { expect, test } from "vitest";
import { type ProfileRequest, seatbeltProfile } from "./seatbelt-wall.ts";

const REQUEST: ProfileRequest = {
  writable: ["/Users/me/p", "/private/tmp/s"],
  protected: ["/Users/me/p/.git/config", "/Users/me/p/.vscode"],
  unreadable: ["/Users/me/.ssh"],
  roots: ["/Users/me/p"],
  network: false,
  loopback: false,
};

/** The rules after those that are the same for every command. */
function rulesOf(change: Partial<ProfileRequest>): readonly string[] {
  const lines = seatbeltProfile({ ...REQUEST, ...change }).split("\n");
  return lines.slice(lines.indexOf('(allow file-write* (subpath "/dev/fd"))') + 1);
}

test("a profile opens folders, then closes what in them stays and what holds keys: the last rule counts", () => {
  expect(rulesOf({})).toEqual([
    '(allow file-write* (subpath "/Users/me/p") (subpath "/private/tmp/s"))',
    '(deny file-write* (subpath "/Users/me/p/.git/config") (subpath "/Users/me/p/.vscode") (regex #"^/Users/me/p/(.*/)?\\.git/(.*/)?(config|config\\.worktree|commondir)$") (regex #"^/Users/me/p/(.*/)?\\.git/(.*/)?hooks(/.*)?$"))',
    '(deny file-write-unlink (literal "/Users/me/p/.git"))',
    '(deny file-read* file-write* (subpath "/Users/me/.ssh"))',
  ]);
});

test("nothing is allowed but what is named: no network, no terminal, no other processes", () => {
  const profile = seatbeltProfile(REQUEST);
  expect(profile.startsWith("(version 1)\n(deny default)\n")).toBe(true);
  expect(/network|\/dev\/tty|pseudo-tty|SecurityServer|appleevent|pasteboard/.test(profile)).toBe(false);
});

test("the network is that of the machine, and the loopback alone goes by the remote end", () => {
  expect(rulesOf({ network: true }).join("\n")).toContain("(allow network-outbound (remote ip))");
  expect(rulesOf({ loopback: true }).slice(-3)).toEqual([
    '(allow network-outbound (remote ip "localhost:*"))',
    '(allow network-bind (local ip "localhost:*"))',
    '(allow network-inbound (local ip "localhost:*"))',
  ]);
});

test("a path with quotes, brackets and backslashes stays one path", () => {
  const odd = '/Users/me/a"b) (allow default)\\';
  const rules = rulesOf({ writable: [odd], protected: [], roots: [odd], unreadable: [] });
  expect(rules[0]).toBe('(allow file-write* (subpath "/Users/me/a\\"b) (allow default)\\\\"))');
  expect(rules[1]).toContain('(regex #"^/Users/me/a.b\\) \\(allow default\\)\\\\/(.*/)?');
});
