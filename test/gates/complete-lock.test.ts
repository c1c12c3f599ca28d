import { expect, test } from "vitest";
import { missingPlatformPackages } from "../../scripts/complete-lock.ts";

test("platform packages the lock file lacks are filled in from the names their parent gives them", () => {
  const packages = {
    "": { version: "1.0.0" },
    "node_modules/tool": {
      version: "2.0.0",
      dev: true,
      optionalDependencies: {
        "@tool/linux-x64": "2.0.0",
        "@tool/linux-x64-musl": "2.0.0",
        "@tool/binding-linux-arm-gnueabihf": "2.0.0",
        "tool-darwin-arm64": "^2.0.0",
        nested: "1.0.0",
      },
    },
    "node_modules/@tool/linux-x64": { version: "2.0.0" },
    "node_modules/tool/node_modules/nested": { version: "1.0.0" },
  };
  expect(missingPlatformPackages({ packages })).toEqual({
    "node_modules/@tool/linux-x64-musl": {
      version: "2.0.0",
      cpu: ["x64"],
      os: ["linux"],
      libc: ["musl"],
      dev: true,
      optional: true,
    },
    "node_modules/@tool/binding-linux-arm-gnueabihf": {
      version: "2.0.0",
      cpu: ["arm"],
      os: ["linux"],
      libc: ["glibc"],
      dev: true,
      optional: true,
    },
    "node_modules/tool-darwin-arm64": {
      version: "2.0.0",
      cpu: ["arm64"],
      os: ["darwin"],
      dev: true,
      optional: true,
    },
  });
});

test("an optional package whose name tells no platform is an error, not a guess", () => {
  const packages = { "node_modules/tool": { optionalDependencies: { extra: "1.0.0" } } };
  expect(() => missingPlatformPackages({ packages })).toThrow(/extra.*names no platform/);
});
