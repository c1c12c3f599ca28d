import { useEffect, useState } from "preact/hooks";
import type { Work } from "./announce.tsx";

type Pictures = typeof import("./picture-parts.ts");

/** The pictures; undefined until they are loaded. */
export function usePictures(work: Work): Pictures | undefined {
  const [pictures, setPictures] = useState<Pictures>();
  useEffect(() => {
    void work.attempt(() => import("./picture-parts.ts")).then(setPictures);
  }, []);
  return pictures;
}
