// SHA-512 crypt on a thread of its own: unixcrypt computes it in JavaScript, 5,000 rounds that would block all other requests. This file is
// what the thread runs, too.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { encrypt } from 'unixcrypt'

const ROLE = 'sha512-crypt'

interface Order {
  id: number
  password: string
  salt: string
}

if (!isMainThread && workerData === ROLE)
  parentPort!.on('message', ({ id, password, salt }: Order) => parentPort!.postMessage({ id, hash: encrypt(password, `$6$${salt}`) }))

interface Thread {
  worker: Worker
  pending: Map<number, PromiseWithResolvers<string>>
}

let thread: Thread | undefined
let orders = 0

/** One after the other: callers keep the queue short. */
export function sha512Crypt(password: string, salt: string): Promise<string> {
  const { worker, pending } = (thread ??= start())
  const answer = Promise.withResolvers<string>()
  const id = ++orders
  pending.set(id, answer)
  worker.postMessage({ id, password, salt } satisfies Order)
  return answer.promise
}

/** Does not keep the process alive. Whatever ends the thread fails its open orders, and the next one starts another. */
function start(): Thread {
  const worker = new Worker(new URL(import.meta.url), { workerData: ROLE, execArgv: [] })
  const pending: Thread['pending'] = new Map()
  worker.unref()
  worker.on('message', ({ id, hash }: { id: number; hash: string }) => {
    pending.get(id)?.resolve(hash)
    pending.delete(id)
  })
  const end = (error: Error): void => {
    if (thread?.worker === worker) thread = undefined
    for (const each of pending.values()) each.reject(error)
    pending.clear()
  }
  worker.on('error', end)
  worker.on('exit', () => end(new Error('the hashing thread ended')))
  return { worker, pending }
}
