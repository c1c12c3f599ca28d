import { useState } from "preact/hooks";

/** A choice that the browser remembers. Where it may not, the choice holds until the page is left. */
export function useKeptChoice<T extends string>(
  name: string,
  options: readonly T[],
  usual: T,
): readonly [T, (choice: T) => void] {
  const [choice, setChoice] = useState<T>(() => options.find((each) => each === stored(name)) ?? usual);
  return [
    choice,
    (next) => {
      setChoice(next);
      store(name, next);
    },
  ];
}

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    // The browser keeps nothing for pages.
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // As above: the choice holds as long as the page is open.
  }
}
