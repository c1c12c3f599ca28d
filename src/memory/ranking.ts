/** The findings of a search about one record. */
export interface Candidate {
  readonly id: number;
  readonly time: number;
  /** BM25 or another measure of its words, above 0; absent when no word matches. */
  readonly text?: number;
  /** Cosine of its vector and that of the query. */
  readonly similarity?: number;
}

/** How candidates are ranked. */
export interface RankingOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly limit: number;
  /** Milliseconds after which a record has lost half of what it gets for being new. */
  readonly halfLifeMs: number;
  /** Share of the score that age can take away, 0 to 1. */
  readonly recencyWeight: number;
}

/** A candidate with its place. */
export interface RankedRecord {
  readonly id: number;
  readonly score: number;
}

/** Vectors further away than this say nothing about each other. */
const MIN_SIMILARITY = 0.3;
/** Below this a record shares only words that most records have. */
const MIN_RELEVANCE = 0.001;

/**
 * The best candidates, best first. `score = relevance × (1 − w + w × 2^(−age ÷ halfLife))` with the recency
 * weight `w`; `relevance` is the measure of the words divided by the best one, or, where vectors were
 * compared, half of that and half of the cosine (below 0.3 nothing). Beside better ones a record is left out
 * that shares only words with the query which most records have. Equal scores: the newer one first. A record
 * from the future counts as new.
 */
export function rank(candidates: Iterable<Candidate>, options: RankingOptions): readonly RankedRecord[] {
  const { now, limit, halfLifeMs, recencyWeight } = options;
  const all = [...candidates];
  const best = all.reduce((most, { text = 0 }) => Math.max(most, text), 0);
  const hasVectors = all.some((candidate) => candidate.similarity !== undefined);
  const scored = all.flatMap((candidate) => {
    const words = best === 0 ? 0 : (candidate.text ?? 0) / best;
    const near = candidate.similarity ?? 0;
    const meaning = near < MIN_SIMILARITY ? 0 : near;
    const relevance = hasVectors ? (words + meaning) / 2 : words;
    if (relevance < MIN_RELEVANCE) return [];
    const age = Math.max(0, now - candidate.time);
    const score = relevance * (1 - recencyWeight + recencyWeight * 2 ** (-age / halfLifeMs));
    return [{ id: candidate.id, time: candidate.time, score }];
  });
  scored.sort((a, b) => b.score - a.score || b.time - a.time || b.id - a.id);
  return scored.slice(0, limit).map(({ id, score }) => ({ id, score }));
}
