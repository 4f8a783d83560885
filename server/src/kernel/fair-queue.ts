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

export interface FairQueue<Lane extends string> {
  <T>(lane: Lane, client: string, work: () => Promise<T>): Promise<T>
  /** Throws where work would not be taken in at this moment: before anything else is done for it. */
  requireRoom(lane: Lane, client: string): void
}

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

  const requireRoom = (lane: Lane, client: string): void => {
    const waiting = lanes.get(lane)!
    if (free > 0) return
    if (waiting.length >= maxWaitingPerLane) throw full('lane')
    if (waiting.filter((each) => each.client === client).length >= maxWaitingPerClient) throw full('client')
  }

  const inTurn = async <T>(lane: Lane, client: string, work: () => Promise<T>): Promise<T> => {
    requireRoom(lane, client)
    if (free > 0) free--
    else await new Promise<void>((start) => lanes.get(lane)!.push({ client, start }))
    try {
      return await work()
    } finally {
      const next = takeNext()
      if (next) next.start()
      else free++
    }
  }
  return Object.assign(inTurn, { requireRoom })
}
