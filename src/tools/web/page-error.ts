/** A page that cannot be had, in words for a model. */
export class PageError extends Error {}
