/** Why the content of something is not kept, or a place is not looked at. */
export type OmissionReason =
  /** A file above the size limit. */
  | "too_large"
  /** The files kept together reached the limit of space. */
  | "no_room"
  /** A file or folder that this user may not read. */
  | "unreadable"
  /** A FIFO, socket or device. */
  | "special"
  /** A folder that would bring more entries than are looked at. */
  | "too_many_files"
  /** Not looked at for the first time yet: that would have kept a call waiting for too long. */
  | "no_time"
  /** Another file system is mounted there. */
  | "mount"
  /** It is no part of the workspace. */
  | "outside"
  /** It could not be looked at after the call. */
  | "failed";

/** The state of a path. `mode` is the permission bits. */
export type FileVersion =
  /** `hash` is the SHA-256 of the bytes, by which they are kept. */
  | { readonly type: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  /** A symbolic link; `target` is in the form of {@link FileChange.path}. */
  | { readonly type: "link"; readonly target: string }
  | { readonly type: "folder"; readonly mode: number }
  /** Seen and not kept. `mark` differs when it was changed. */
  | { readonly type: "unkept"; readonly reason: OmissionReason; readonly mark: string };

/** The change of one path; `null` where nothing stands. */
export interface FileChange {
  /**
   * Below the root, parts separated by `/`. A path that is not valid UTF-8 is a NUL character followed by its
   * bytes, each as the character of that number.
   */
  readonly path: string;
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
}

/** A place not looked at: changes below it are not known. `changed`: some are known to be there. */
export interface Omission {
  readonly path: string;
  readonly reason: OmissionReason;
  readonly changed?: boolean;
}
