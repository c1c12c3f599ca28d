export const SESSION_VIEWS = ["chat", "timeline", "context", "files", "replay"] as const;

export type SessionViewName = (typeof SESSION_VIEWS)[number];

/** A place in the page, as given by the fragment of its address. */
export type Route =
  | {
      readonly type: "sessions";
      readonly cwd?: string;
    }
  | { readonly type: "stats" }
  | {
      readonly type: "session";
      readonly id: string;
      readonly view: SessionViewName;
      readonly entry?: string;
    };

/** Parses a fragment; defaults to the list of sessions. */
export function parseRoute(fragment: string): Route {
  const [first = "", id = "", view = "chat", entry = ""] = fragment.replace(/^#?\/?/, "").split("/");
  if (first === "stats") return { type: first };
  const knownView = SESSION_VIEWS.find((each) => each === view);
  const decoded = decodedPart(id);
  if (first === "folder" && decoded !== "") return { type: "sessions", cwd: decoded };
  if (first !== "sessions" || decoded === "" || knownView === undefined) return { type: "sessions" };
  const entryId = decodedPart(entry);
  return { type: "session", id: decoded, view: knownView, ...(entryId === "" ? {} : { entry: entryId }) };
}

export function hrefOf(route: Route): string {
  if (route.type === "sessions")
    return route.cwd === undefined ? "#/" : `#/folder/${encodeURIComponent(route.cwd)}`;
  if (route.type !== "session") return `#/${route.type}`;
  const { id, view, entry } = route;
  const session = `#/sessions/${encodeURIComponent(id)}`;
  if (entry !== undefined) return `${session}/${view}/${encodeURIComponent(entry)}`;
  return view === "chat" ? session : `${session}/${view}`;
}

export function goTo(route: Route): void {
  location.hash = hrefOf(route);
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
