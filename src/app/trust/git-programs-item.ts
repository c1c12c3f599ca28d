import { canonicalJson } from "../../core/base/json.ts";
import type { GitPrograms } from "../../permission/paths/git-programs.ts";
import { contentHash, type TrustItem } from "../../permission/trust/trust-item.ts";

/** The programs that the settings of a project's own repository have git run, as one thing to agree to. */
export function gitProgramsItem({ looking, drivers, others }: GitPrograms): TrustItem {
  const all = [...looking, ...drivers, ...others];
  return {
    kind: "config",
    path: ".git/config",
    hash: contentHash(canonicalJson(all)),
    does: `has git run: ${all.join("; ")}`,
  };
}
