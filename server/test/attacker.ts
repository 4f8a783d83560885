// Sends prepared requests at a steady rate from a thread of its own, whatever the answers are and however long they take.
import { Agent, request } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface Shot {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
}

export interface Attack {
  /** Sent in turns. */
  shots: Shot[]
  perSecond: number
}

/** How many answers had which status; 0 is no answer. */
export type Statuses = Record<number, number>

export interface Attacker {
  /** Attacks until `work` has ended. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** Of all attacks so far. */
  statuses: Statuses
  end(): Promise<unknown>
}

export function openAttacker(attack: Attack): Attacker {
  const worker = new Worker(new URL(import.meta.url), { workerData: { attack } })
  const statuses: Statuses = {}
  const heard = (): Promise<Statuses> =>
    new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  return {
    statuses,
    async during(work) {
      worker.postMessage('attack')
      try {
        return await work()
      } finally {
        const counted = heard()
        worker.postMessage('rest')
        for (const [status, count] of Object.entries(await counted)) statuses[Number(status)] = (statuses[Number(status)] ?? 0) + count
      }
    },
    end: () => worker.terminate(),
  }
}

const TICK_MS = 10
/** Beyond so many unanswered requests an attacker of one machine has no more sockets. */
const MAX_OPEN = 1_000

function serveAttacks({ shots, perSecond }: Attack): void {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN })
  let statuses: Statuses = {}
  let next = 0
  let open = 0
  const shoot = ({ method, url, headers, body }: Shot): void => {
    open++
    const count = (status: number): void => {
      open--
      statuses[status] = (statuses[status] ?? 0) + 1
      if (isResting && open === 0) report()
    }
    const sending = request(url, { method, agent, headers }, (response) =>
      response.resume().once('close', () => count(response.statusCode!)),
    )
    sending.once('error', () => count(0))
    sending.end(body)
  }
  let timer: NodeJS.Timeout | undefined
  let isResting = true
  const report = (): void => {
    parentPort!.postMessage(statuses)
    statuses = {}
  }
  parentPort!.on('message', (order: 'attack' | 'rest') => {
    isResting = order === 'rest'
    if (isResting) {
      clearInterval(timer)
      if (open === 0) report()
      return
    }
    const start = performance.now()
    let sent = 0
    timer = setInterval(() => {
      for (const due = ((performance.now() - start) / 1000) * perSecond; sent < due; sent++)
        if (open < MAX_OPEN) shoot(shots[next++ % shots.length]!)
    }, TICK_MS)
  })
}

if (!isMainThread && workerData?.attack) serveAttacks(workerData.attack as Attack)
