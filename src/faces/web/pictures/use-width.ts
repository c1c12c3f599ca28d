import { createContext, type RefObject } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";

/** True where a picture is drawn once, for a file: all of it, and as wide as a page. */
export const StillContext: ReturnType<typeof createContext<boolean>> = createContext(false);

/** The width of an element in whole pixels, kept up to date; {@link FIRST_WIDTH} before it is known. */
export function useWidth<E extends Element>(): {
  readonly ref: RefObject<E | null>;
  readonly width: number;
} {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(useContext(StillContext) ? STILL_WIDTH : FIRST_WIDTH);
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
const STILL_WIDTH = 960;
