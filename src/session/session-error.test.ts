import { expect, test } from "vitest";
import { systemReason } from "./session-error.ts";
import { checkpointError } from "./undo/checkpoint-store.ts";

test("a reason has words where its code is known, and no full stop of its own where it is a sentence", () => {
  const full = Object.assign(new Error("write"), { code: "ENOSPC" });
  expect(systemReason(full)).toBe("no space left on the device (ENOSPC)");
  expect(systemReason(new Error("This runtime is too old. Use another."))).toBe(
    "This runtime is too old. Use another",
  );
  expect(checkpointError("/x.db cannot be read", new Error("It is too old.")).message).toBe(
    "/x.db cannot be read: It is too old.",
  );
});
