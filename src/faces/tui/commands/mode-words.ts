/** What each permission mode lets happen, in a few words. */
export const MODE_WORDS: { readonly [mode: string]: string } = {
  default: "reads in the workspace, asks for the rest",
  acceptEdits: "edits files of the workspace without asking",
  plan: "only reads",
  dontAsk: "asks nothing: what would be asked is refused",
  bypassPermissions: "everything runs unasked",
};
