import type { WalletTimeline } from '@berth/sdk'

const DAY_S = 86_400

/** Times in seconds: the end of each day, where both lines are on the present one. */
export function toSeries({ past, upcoming }: Pick<WalletTimeline, 'past' | 'upcoming'>) {
  const first = Date.parse(`${past[0]!.date}T00:00:00Z`) / 1000 + DAY_S
  const later = Array.from({ length: upcoming.length - 1 }, () => null)
  const before = Array.from({ length: past.length - 1 }, () => null)
  return {
    times: Array.from({ length: past.length + upcoming.length - 1 }, (_, index) => first + index * DAY_S),
    past: [...past.map(({ balance }) => Number(balance)), ...later],
    upcoming: [...before, ...upcoming.map(({ balance }) => Number(balance))],
  }
}

/** The first day that the balance does not cover. */
export const uncoveredFrom = ({ upcoming }: Pick<WalletTimeline, 'upcoming'>): string | null =>
  upcoming.find(({ balance }) => balance.startsWith('-'))?.date ?? null
