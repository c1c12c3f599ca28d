/** Tokens for people: `950`, `12.4k`, `1.2M`. */
export function tokensText(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  if (tokens < 999_500) return `${(tokens / 1_000).toFixed(tokens < 99_950 ? 1 : 0)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** Money for people: `$0.0042`, `$1.20`, or `cost unknown`. */
export function costText(usd: number | undefined): string {
  if (usd === undefined) return "cost unknown";
  return usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** A duration for people: `340 ms`, `2.4 s`, `3 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return secondsText(ms);
}

/** Whole seconds, for something in progress: `4 s`, `3 min 5 s`, `1 h 2 min`. */
export function secondsText(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1_000));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** The age of a moment, abbreviated: `now`, `5 min`, `3 h`, `2 days`. */
export function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`;
}

/** A moment in a list grouped by day: its age within the last hour, else the time of day. */
export function timeText(time: number, now: number): string {
  if (now - time < 3_600_000) return ageText(now - time);
  const date = new Date(time);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** The day of a moment: `Today`, `Yesterday`, `Wednesday, 25 November`. */
export function dayText(time: number, now: number): string {
  const midnight = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now) - midnight(time)) / 86_400_000);
  if (days < 2) return days < 1 ? "Today" : "Yesterday";
  const date = new Date(time);
  const weekday = date.toLocaleDateString("en", { weekday: "long" });
  const month = date.toLocaleDateString("en", { month: "long" });
  const year = date.getFullYear() === new Date(now).getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${weekday}, ${date.getDate()} ${month}${year}`;
}
