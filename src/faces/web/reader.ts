import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { createReader, type Reader } from "../../server/create-reader.ts";

/** The client that all below talk through. */
export const ReaderContext: ReturnType<typeof createContext<Reader>> = createContext<Reader>(createReader());

/** The client of the page. */
export function useReader(): Reader {
  return useContext(ReaderContext);
}
