import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock } from "../testing/fake-clock.ts";
import { Refusal } from "./refusal.ts";
import { type GuardOptions, RequestGuard } from "./request-guard.ts";

const TOKEN = "a-token-of-more-than-20-characters";

const request = (headers: Record<string, string>, url = "http://127.0.0.1:4040/api/x"): Request =>
  new Request(url, { headers });

async function statusOf(work: () => unknown): Promise<number | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error.status : -1;
  }
}

const guard = (options: Partial<GuardOptions> = {}): RequestGuard =>
  new RequestGuard({ token: TOKEN, ...options });

test("only the token is the token", async () => {
  const own = guard({ clock: new FakeClock() });
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 60 }), async (text) => {
      const fresh = guard();
      const status = await statusOf(() => fresh.assertIsToken(text));
      expect(status).toBe(text === TOKEN ? undefined : 401);
    }),
  );
  expect(
    await statusOf(() => own.assertToken(request({ authorization: `Bearer ${TOKEN}` }))),
  ).toBeUndefined();
});

test("whatever stands in the headers is a refusal or is let through, and never an accident", async () => {
  const header = fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^\x21-\x7e]/g, "_"));
  await fc.assert(
    fc.asyncProperty(header, header, header, async (authorization, cookie, host) => {
      const asked = request({ authorization, cookie, host });
      expect(await statusOf(() => guard().assertToken(asked))).toBe(401);
      expect([undefined, 403]).toContain(await statusOf(() => guard().assertHostAndOrigin(asked)));
    }),
  );
});

test("names that are not the server's are refused, those of the machine and those given are not", async () => {
  const status = (host: string, options: Partial<GuardOptions> = {}): Promise<number | undefined> =>
    statusOf(() => guard(options).assertHostAndOrigin(request({ host })));
  const local = ["127.0.0.1", "127.0.0.1:4040", "localhost:1", "LOCALHOST", "[::1]:4040", "127.0.0.1:80"];
  expect(await Promise.all(local.map((host) => status(host)))).toEqual(local.map(() => undefined));
  const foreign = [
    "evil.example",
    "192.168.1.7",
    "[fe80::1]",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "a@localhost",
  ];
  expect(await Promise.all(foreign.map((host) => status(host)))).toEqual(foreign.map(() => 403));
  const open = { hosts: ["ip", "Agents.example"] };
  expect(
    await Promise.all(["192.168.1.7:4040", "agents.example", "[fe80::1]"].map((host) => status(host, open))),
  ).toEqual([undefined, undefined, undefined]);
  expect(await status("evil.example", open)).toBe(403);
});

test("without a header the address of the request says which server is meant", async () => {
  expect(await statusOf(() => guard().assertHostAndOrigin(request({}, "https://evil.example/api/x")))).toBe(
    403,
  );
  expect(
    await statusOf(() =>
      guard({ hosts: ["a.example"] }).assertHostAndOrigin(request({}, "https://a.example/")),
    ),
  ).toBe(undefined);
});

test("the first wrong tokens are answered at once, the next one a second each, and a crowd is sent away", async () => {
  const clock = new FakeClock();
  const own = guard({ clock });
  for (let count = 0; count < 20; count++) expect(await statusOf(() => own.assertIsToken("wrong"))).toBe(401);
  const crowd = Array.from({ length: 51 }, () => statusOf(() => own.assertIsToken("wrong")));
  expect(await Promise.race(crowd)).toBe(429);
  expect(await statusOf(() => own.assertIsToken(TOKEN))).toBeUndefined();
  for (let count = 0; count < 50; count++) {
    await clock.untilSleeping();
    await clock.advance(1_000);
  }
  const late = (await Promise.all(crowd)).filter((status) => status === 401);
  expect([late.length, clock.sleeping]).toEqual([50, 0]);
});

test("wrong tokens are forgotten one a minute, so that those of a day ago slow nobody down", async () => {
  const clock = new FakeClock();
  const own = guard({ clock });
  const wrong = (): Promise<number | string | undefined> =>
    Promise.race([
      statusOf(() => own.assertIsToken("wrong")),
      clock.untilSleeping().then(() => "has to wait"),
    ]);
  for (let count = 0; count < 20; count++) await wrong();
  await clock.advance(120_000);
  expect([await wrong(), await wrong(), await wrong()]).toEqual([401, 401, "has to wait"]);
  await clock.advance(86_400_000);
  const next: unknown[] = [];
  for (let count = 0; count < 20; count++) next.push(await wrong());
  expect(new Set(next)).toEqual(new Set([401]));
});

test("each port has a cookie of its own, which holds nothing of the token", async () => {
  const own = guard();
  const cookie = await own.cookie(request({ host: "127.0.0.1:4040" }));
  expect(cookie).toMatch(
    /^nano_agent_4040=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
  );
  const [pair = ""] = cookie.split(";");
  const with_ = (port: number): Promise<number | undefined> =>
    statusOf(() => own.assertToken(request({ host: `127.0.0.1:${port}`, cookie: pair })));
  expect([await with_(4040), await with_(4041)]).toEqual([undefined, 401]);
});
