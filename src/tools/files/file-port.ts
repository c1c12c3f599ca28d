/**
 * What text files are read and written through instead of the system: the buffers of an editor. Containment, permission and the rule that a file
 * must have been read stay those of the tools; what is no text (images, folders) and undo go to the disk.
 */
export interface FilePort {
  /** The whole text of a file as the editor has it, what is not saved included; `undefined`: read it from the disk. */
  readText?(path: string, options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  /** Replaces the text of a file, or creates it, on the disk too. */
  writeText?(path: string, text: string, options: { readonly signal: AbortSignal }): Promise<void>;
}
