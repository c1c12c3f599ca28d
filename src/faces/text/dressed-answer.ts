/** An answer in Markdown that is shown while it comes, as whole rows of text for a terminal. */
export interface DressedAnswer {
  /** More of the answer; the rows that are certain by now. */
  readonly push: (text: string) => string;
  /** The rest of the rows. */
  readonly end: () => string;
}
