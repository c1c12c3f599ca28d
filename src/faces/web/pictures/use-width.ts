import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The width of an element in whole pixels, kept up to date; {@link FIRST_WIDTH} before it is known. */
export function useWidth<E extends Element>(): {
  readonly ref: RefObject<E | null>;
  readonly width: number;
} {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(Math.max(1, Math.floor(element.getBoundingClientRect().width)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

const FIRST_WIDTH = 320;
