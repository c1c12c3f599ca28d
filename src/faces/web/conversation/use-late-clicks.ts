import { useState } from "preact/hooks";

/** Time in which a click may be the second half of one that was meant for what stood there before. */
const EARLY_MS = 400;

/** Props of what takes no click right after it was shown. Keys work at once: they go where the focus is. */
export function useLateClicks(): { readonly onClickCapture: (click: MouseEvent) => void } {
  const [shownAt] = useState(() => performance.now());
  return {
    onClickCapture: (click) => {
      const isOfKey = click.detail === 0;
      if (isOfKey || click.timeStamp - shownAt >= EARLY_MS) return;
      click.preventDefault();
      click.stopPropagation();
    },
  };
}
