import { imageBlock } from "../editor/attachments.ts";
import type { Control } from "./control.ts";

/** Puts the image of the clipboard into the input. */
export async function pasteImage(control: Control): Promise<void> {
  const bytes = await control.ports.clipboardImage();
  const image = bytes === undefined ? undefined : imageBlock(bytes);
  if (image === undefined)
    control.say(
      "There is no image in the clipboard, or no program that reads it (wl-paste, xclip, pngpaste).",
    );
  else {
    control.screen.input.addImage(image);
    control.screen.draw();
  }
}
