// A thread for computations that would block all requests, at a lower priority than the rest of the process: where the cores are busy,
// requests come first. The file that orders the work is also what the thread runs.
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** About a tenth of what the others get, where they want all of it. */
const NICE = 10

interface Answer<Result> {
  id: number
  result?: Result
  error?: Error
}

interface Thread<Result> {
  worker: Worker
  pending: Map<number, PromiseWithResolvers<Result>>
}

/** Runs nothing but in the thread that `openThread` starts for the same role. */
export function serveThread<Order, Result>(
  role: string,
  work: (order: Order) => Result,
  handedOver: (result: Result) => ArrayBuffer[] = () => [],
): void {
  if (isMainThread || workerData !== role) return
  lowerPriority()
  parentPort!.on('message', ({ id, order }: { id: number; order: Order }) => {
    const answer = { id, ...attempt(() => work(order)) }
    parentPort!.postMessage(answer, answer.result === undefined ? [] : handedOver(answer.result))
  })
}

function attempt<Result>(work: () => Result): Omit<Answer<Result>, 'id'> {
  try {
    return { result: work() }
  } catch (error) {
    return { error: error as Error }
  }
}

/** What can be handed to another thread without a copy: nothing where the bytes are part of a larger buffer. */
export const wholeBuffer = ({ buffer, length }: Uint8Array): ArrayBuffer[] =>
  buffer instanceof ArrayBuffer && buffer.byteLength === length ? [buffer] : []

/** Linux takes the id of a thread for that of a process. Elsewhere the priority stays. */
function lowerPriority(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE)
  } catch {
    // not Linux, or /proc is not mounted
  }
}

/**
 * Orders are worked off one after the other: callers keep the queue short. The thread starts with the first order and keeps the
 * process alive while there are orders. Whatever ends it fails its open orders, and the next one starts another.
 */
export function openThread<Order, Result>(file: string, role: string): (order: Order, handedOver?: ArrayBuffer[]) => Promise<Result> {
  let thread: Thread<Result> | undefined
  let orders = 0
  const start = (): Thread<Result> => {
    const worker = new Worker(new URL(file), { workerData: role, execArgv: [] })
    const pending: Thread<Result>['pending'] = new Map()
    worker.on('message', ({ id, result, error }: Answer<Result>) => {
      const open = pending.get(id)
      pending.delete(id)
      if (error) open?.reject(error)
      else open?.resolve(result!)
      if (pending.size === 0) worker.unref()
    })
    const end = (error: Error): void => {
      if (thread?.worker === worker) thread = undefined
      for (const each of pending.values()) each.reject(error)
      pending.clear()
    }
    worker.on('error', end)
    worker.on('exit', () => end(new Error(`the thread of ${role} ended`)))
    return { worker, pending }
  }
  return (order, handedOver = []) => {
    const { worker, pending } = (thread ??= start())
    const answer = Promise.withResolvers<Result>()
    const id = ++orders
    pending.set(id, answer)
    worker.ref()
    worker.postMessage({ id, order }, handedOver)
    return answer.promise
  }
}
