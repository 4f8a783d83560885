// How much do deliveries cost beyond the requests themselves? The worker's deliveries, with their claims, log and standing, beside a bare
// undici loop that signs and posts the same bodies to the same receiver, in turns. Run: npm run bench:webhooks
import { fork } from 'node:child_process'
import { createHmac, createSecretKey } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { openCore } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { migrateAndSeed } from '../server/src/database.ts'
import { createAccount } from '../server/src/features/accounts/service.ts'
import { recordEvent } from '../server/src/features/events/service.ts'
import { openDeliveries } from '../server/src/features/webhooks/deliver.reconciler.ts'
import { createWebhook } from '../server/src/features/webhooks/service.ts'
import { sql } from '../server/src/kernel/database/db.ts'
import { startEmbeddedPostgres } from '../server/src/kernel/postgres/embedded.ts'
import { newId } from '../server/src/kernel/ids.ts'
import { createLog } from '../server/src/kernel/log.ts'
import { sampleEvent } from '../server/test/sample-event.ts'
import { scratchFolder } from '../server/test/scratch-folder.ts'

const ROUNDS = 5
const [ACCOUNTS, WEBHOOKS_EACH, EVENTS_EACH] = [4, 5, 100]
const DELIVERIES = ACCOUNTS * WEBHOOKS_EACH * EVENTS_EACH
const CONNECTIONS = 64

const folder = await scratchFolder()
const postgres = await startEmbeddedPostgres({ dataDir: join(folder.path, 'postgres') })
const receiver = fork(join(import.meta.dirname, 'webhooks-receiver.ts'))
const [port] = (await once(receiver, 'message')) as [number]
const url = `http://127.0.0.1:${port}/hook`

const config = readConfig({ BERTH_DATA_DIR: folder.path, BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' })
await migrateAndSeed({ catalogFile: null, hypervisor: 'simulated' }, postgres.url)
const core = await openCore(config, postgres.url, createLog({ level: 'warn', pretty: false }), { worker: false })
const { deps } = core
const { db, clock } = deps

const DATA = sampleEvent('').data

const accounts: string[] = []
for (let i = 0; i < ACCOUNTS; i++) {
  const { id } = await db.tx((tx) => createAccount(tx, clock.now(), { email: `bench-${i}@example.com` }))
  for (let j = 0; j < WEBHOOKS_EACH; j++) await db.tx((tx) => createWebhook(tx, deps, id, { url, events: ['vm.started'] }, null))
  accounts.push(id)
}

async function fill(): Promise<void> {
  for (const accountId of accounts) {
    await db.tx(async (tx) => {
      for (let i = 0; i < EVENTS_EACH; i++) await recordEvent(tx, deps, sampleEvent(accountId))
    })
  }
}

async function deliverAll(): Promise<void> {
  const finished = Promise.withResolvers<void>()
  const deliveries = openDeliveries(deps, () => void turn())
  let [running, again] = [false, false]
  const turn = async (): Promise<void> => {
    if (running) return void (again = true)
    running = true
    do {
      again = false
      await deliveries.runOnce()
    } while (again)
    running = false
    if (deliveries.inFlight() === 0) finished.resolve()
  }
  await turn()
  await finished.promise
  await deliveries.stop()
}

const agent = new Agent({ connections: CONNECTIONS })
const key = createSecretKey(Buffer.alloc(32, 7))

async function postBare(): Promise<void> {
  let left = DELIVERIES
  const loop = async (): Promise<void> => {
    while (left-- > 0) {
      const [id, timestamp] = [newId(), Math.floor(Date.now() / 1000)]
      const body = JSON.stringify({ id, type: 'vm.started', timestamp: new Date().toISOString(), data: DATA })
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': `${timestamp}`,
        'webhook-signature': `v1,${signature}`,
      }
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, loop))
}

interface Measured {
  seconds: number
  cpuSeconds: number
}

async function measured(work: () => Promise<void>): Promise<Measured> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - begun) / 1000, cpuSeconds: (user + system) / 1e6 }
}

const [ours, bare]: [Measured[], Measured[]] = [[], []]
try {
  for (let round = 0; round <= ROUNDS; round++) {
    await fill()
    const results = [await measured(deliverAll), await measured(postBare)] as const
    if (round === 0) continue // compiled code, warm caches
    ours.push(results[0])
    bare.push(results[1])
  }
  const { count } = await db.one<{ count: number }>(sql`select count(*)::int as count from webhook_deliveries where status = 'SUCCEEDED'`)
  if (count !== DELIVERIES * (ROUNDS + 1)) throw new Error(`${count} of ${DELIVERIES * (ROUNDS + 1)} deliveries have arrived`)
  const total = (list: Measured[], what: keyof Measured): number => list.reduce((sum, each) => sum + each[what], 0)
  const perSecond = [ours, bare].map((list) => (DELIVERIES * ROUNDS) / total(list, 'seconds')) as [number, number]
  const micros = [ours, bare].map((list) => (total(list, 'cpuSeconds') * 1e6) / (DELIVERIES * ROUNDS)) as [number, number]
  const ratio = perSecond[0] / perSecond[1]
  console.table({
    'deliveries per second': {
      product: Math.round(perSecond[0]),
      bare: Math.round(perSecond[1]),
      ratio: ratio.toFixed(2),
      goal: '≥ 0.4',
      kept: ratio >= 0.4,
    },
    'CPU of Node, µs each': {
      product: Math.round(micros[0]),
      bare: Math.round(micros[1]),
      ratio: (micros[0] / micros[1]).toFixed(2),
      goal: '–',
      kept: '–',
    },
  })
} finally {
  receiver.disconnect()
  await agent.close()
  await core.close()
  await postgres.stop()
  await folder.remove()
}
