/** How long to wait before the next attempt: doubling, with jitter so that a hundred hosts do not knock in step. */
export interface Backoff {
  firstMs: number
  mostMs: number
}

export function pauseMs({ firstMs, mostMs }: Backoff, attempt: number): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(attempt, 30))
  return full / 2 + (Math.random() * full) / 2
}
