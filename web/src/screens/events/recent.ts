// The API reads the log forwards from a cursor. Cursors are consecutive numbers, so the newest event is found by binary search: a few requests
// the first time, one afterwards.
import type { Event, Page } from '@berth/sdk'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'

let last = 0n

async function exists(after: bigint, signal: AbortSignal): Promise<boolean> {
  return (await berth.events.page({ after: String(after), limit: 1 }, { signal })).length > 0
}

/** Cursor of the newest event. */
async function findLast(signal: AbortSignal): Promise<bigint> {
  if (!(await exists(last, signal))) return last
  let step = 64n
  while (await exists(last + step, signal)) {
    last += step
    step *= 4n
  }
  for (let high = last + step; high - last > 1n;) {
    const middle = (last + high) / 2n
    if (await exists(middle, signal)) last = middle
    else high = middle
  }
  return ++last
}

/** A page of events, newest first. */
export async function readEvents(page: number, limit: number, signal: AbortSignal): Promise<Pick<Page<Event>, 'items' | 'pagination'>> {
  const total = Number(await findLast(signal))
  const end = total - (page - 1) * limit
  const begin = Math.max(0, end - limit)
  const pagination = { page, limit, total, totalPages: Math.ceil(total / limit) }
  if (end <= 0) return { items: [], pagination }
  const events = await berth.events.page({ after: String(begin), limit: end - begin }, { signal })
  return { items: events.toReversed(), pagination }
}

export const useRecentEvents = (count: number): UseQueryResult<Event[]> =>
  useQuery({ queryKey: ['events', 'recent', count], queryFn: async ({ signal }) => (await readEvents(1, count, signal)).items })
