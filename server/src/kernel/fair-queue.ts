// Expensive work in turns: at most `slots` at a time, from lanes that take turns, with a bounded number waiting in each. A flood in
// one lane delays another lane by its turn only, and one client cannot fill a lane alone.

export interface FairQueueOptions<Lane extends string> {
  slots: number
  /** The order of turns. A lane in which nothing waits is skipped. */
  turns: Lane[]
  maxWaitingPerLane: number
  maxWaitingPerClient: number
  /** The error of work that is not taken in. */
  full: (because: 'lane' | 'client') => Error
}

interface Waiting {
  client: string
  start: () => void
}

export type FairQueue<Lane extends string> = <T>(lane: Lane, client: string, work: () => Promise<T>) => Promise<T>

export function createFairQueue<Lane extends string>(options: FairQueueOptions<Lane>): FairQueue<Lane> {
  const { slots, turns, maxWaitingPerLane, maxWaitingPerClient, full } = options
  const lanes = new Map(turns.map((lane) => [lane, [] as Waiting[]]))
  let free = slots
  let turn = 0

  const takeNext = (): Waiting | undefined => {
    for (let i = 0; i < turns.length; i++) {
      const next = lanes.get(turns[turn]!)!.shift()
      turn = (turn + 1) % turns.length
      if (next) return next
    }
    return undefined
  }

  return async (lane, client, work) => {
    const waiting = lanes.get(lane)!
    if (free > 0) free--
    else {
      if (waiting.length >= maxWaitingPerLane) throw full('lane')
      if (waiting.filter((each) => each.client === client).length >= maxWaitingPerClient) throw full('client')
      await new Promise<void>((start) => waiting.push({ client, start }))
    }
    try {
      return await work()
    } finally {
      const next = takeNext()
      if (next) next.start()
      else free++
    }
  }
}
