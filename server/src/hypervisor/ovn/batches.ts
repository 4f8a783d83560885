// Which of the changes that wait go into the next transaction of OVN's northbound database.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { RefusedError } from '@berth/ovsdb'
import { DriverError } from '../errors.ts'
import type { Inserted } from './plan.ts'

interface Change {
  /** Changes of the same are written in the order of the requests. */
  what: string
  signal: AbortSignal
}

type Waiting<C> = C &
  PromiseWithResolvers<number | null> & {
    /** Operations, when it was last looked at. */
    planned?: number
  }

/** Operations of a transaction, about. The server answers nobody while it works on one, and its hosts work on all of it before they confirm it. */
const MANY = 1_000
/** Of a change that does not wait for larger ones. */
const FEW = 100

/** What is asked for while another transaction is under way goes into the next one together: northd and the chassis work on every transaction
 *  anew. Small changes do not wait for many large ones. One that is refused is taken apart, so that nobody fails for another. */
export function inBatches<C extends Change>(
  write: (asked: readonly C[]) => Promise<number | null>,
  sizeOf: (asked: C, inserted: Inserted) => number,
): (asked: C) => Promise<number | null> {
  let waiting: Waiting<C>[] = []
  let isWriting = false
  const finish = async (batch: Waiting<C>[]): Promise<void> => {
    try {
      const number = await write(batch)
      for (const { resolve } of batch) resolve(number)
    } catch (error) {
      const isOfOne = error instanceof RefusedError || error instanceof DriverError
      if (isOfOne && batch.length > 1) for (const each of batch) await finish([each])
      else for (const { reject } of batch) reject(error)
    }
  }
  /** By a plan that is made once: to plan all that wait for every transaction would cost the square of how many they are. */
  const isSmall = (each: Waiting<C>): boolean => (each.planned ??= sizeOf(each, new Map())) <= FEW
  let wasSmall = false
  /** As many as one transaction may have, in the order of the requests: small ones among themselves, in turns with the others. */
  const nextOf = (asked: Waiting<C>[]): Waiting<C>[] => {
    if (asked.length < 2) return asked
    const same = Map.groupBy(asked, ({ what }) => what)
    const { small = [], large = [] } = Object.groupBy([...same.values()], ([first]) => (isSmall(first!) ? 'small' : 'large'))
    wasSmall = small.length > 0 && !(wasSmall && large.length > 0)
    const next: Waiting<C>[] = []
    const stopped = new Set<string>() // a change is planned on what the one before it leaves
    const inserted: Inserted = new Map() // what several share counts once
    let sum = 0
    for (const each of asked) {
      if (stopped.has(each.what)) continue
      const isInTurn = isSmall(each) === wasSmall
      if (isInTurn) each.planned = sizeOf(each, inserted) // rows may have changed since
      if (!isInTurn || (wasSmall && !isSmall(each))) {
        stopped.add(each.what)
        continue
      }
      sum += each.planned!
      if (sum > MANY && next.length > 0) break
      next.push(each)
      if (same.get(each.what)!.length > 1 && sizeOf(each, new Map()) > 0) stopped.add(each.what)
    }
    return next
  }
  const work = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      await nextTurn() // whoever the last transaction lets go on has asked by then
      waiting = waiting.filter(({ signal }) => !signal.aborted)
      const next = new Set(nextOf(waiting))
      waiting = waiting.filter((each) => !next.has(each))
      if (next.size > 0) await finish([...next])
    }
    isWriting = false
  }
  return (asked) => {
    const each = { ...asked, ...Promise.withResolvers<number | null>() }
    const abort = (): void => each.reject(asked.signal.reason)
    asked.signal.addEventListener('abort', abort)
    waiting.push(each)
    if (!isWriting) void work()
    return each.promise.finally(() => asked.signal.removeEventListener('abort', abort))
  }
}
