/** Exponential backoff with jitter, so that the connections of many hosts are not retried in step. */
export interface Backoff {
  firstMs: number
  maxMs: number
}

export function pauseMs({ firstMs, maxMs }: Backoff, attempt: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30))
  return full / 2 + (Math.random() * full) / 2
}
