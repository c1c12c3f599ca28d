import { useEffect, useState } from "preact/hooks";
import { parseRoute, type Route } from "./route.ts";

/** The place the page is at; the component is drawn again when it changes. */
export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setFragment(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return parseRoute(fragment);
}
