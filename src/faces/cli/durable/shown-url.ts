/** The address of a database as it may be printed: without its password and parameters. */
export function shownUrl(url: string): string {
  const parts = /^([a-z][a-z\d+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)/i.exec(url);
  if (parts === null) return "(an address that cannot be read)";
  const [, protocol = "", login, place = ""] = parts;
  const user = login?.split(":")[0];
  return `${protocol}${user === undefined || user === "" ? "" : `${user}@`}${place}`;
}

/** A text with the passwords of an address of a database taken out, such as the message of an error. */
export function withoutPassword(text: string, url: string | undefined): string {
  if (url === undefined) return text;
  const [, login = ""] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)@/i.exec(url) ?? [];
  const asParameter = [...url.matchAll(/[?&]password=([^&#]*)/gi)].map(([, value = ""]) => value);
  const inLogin = login.includes(":") ? [login.slice(login.indexOf(":") + 1)] : [];
  const secrets = [...asParameter, ...inLogin].flatMap((secret) => [secret, decoded(secret)]);
  return [url, ...secrets]
    .filter((secret) => secret !== "")
    .reduce((rest, secret) => rest.replaceAll(secret, secret === url ? shownUrl(url) : "***"), text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // As the user wrote it, then.
    return text;
  }
}
