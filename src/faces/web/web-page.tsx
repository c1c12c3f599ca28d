import type { VNode } from "preact";
import { hrefOf } from "./route.ts";
import { useRoute } from "./use-route.ts";

/** The whole page. */
export function WebPage(): VNode {
  const route = useRoute();
  return (
    <main>
      <h1>nano-agent</h1>
      <p>{route.type}</p>
      <a href={hrefOf({ type: "stats" })}>Statistics</a>
    </main>
  );
}
