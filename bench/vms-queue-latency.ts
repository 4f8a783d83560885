// How soon a worker begins with what was asked for: from the moment before the commit of POST /vms to its first step, and beside it from
// the commit of a job of bare pg-boss to its handler. In turns, one at a time. Arguments: database, data folder, account.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { openCore } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { createVm } from '../server/src/features/vms/actions/create.ts'
import { DryRunResult } from '../server/src/http/api/api.ts'
import { instantPace } from '../server/src/hypervisor/simulated/latency.ts'
import { sql } from '../server/src/kernel/database/db.ts'
import { createLog } from '../server/src/kernel/log.ts'
import { answerParent } from './vms-process.ts'

const [url = '', dataDir = '', accountId = ''] = process.argv.slice(2)
let begun = (): void => {}
const nextBeginning = (): Promise<number> => new Promise((resolve) => (begun = () => resolve(performance.now())))

const config = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_PORT: '0' })
const core = await openCore(config, url, createLog({ level: 'warn', pretty: false }), { worker: true, pace: instantPace })
const { deps } = core
const heard = {
  ...deps,
  /** The first thing that a step asks for. */
  get db() {
    begun()
    return deps.db
  },
}
await core.engine.work(heard, config.workerConcurrency)
const ids = await deps.db.one<{ regionId: string; osTemplateId: string }>(sql`
  select (select id from regions limit 1) as "regionId", (select id from os_templates where slug = 'debian-12') as "osTemplateId"`)
const who = {
  accountId,
  payerId: accountId,
  memberOf: accountId,
  actorType: 'token' as const,
  tokenIds: [],
  person: null,
  hasBudget: false,
  signedIn: null,
  actorName: 'bench',
  actorId: 'bench',
  scopes: new Set<string>(),
  requestsPerMinute: 1,
}

async function productPickup(): Promise<number> {
  let committing = 0
  const beginning = nextBeginning()
  const { actionId } = await deps.db.tx(async (tx) => {
    const created = await createVm(tx, deps, who, { ...ids, hostname: 'pickup' })
    committing = performance.now()
    if (created instanceof DryRunResult) throw new Error('BUG: a dry run that was not asked for')
    return created
  })
  const took = (await beginning) - committing
  await deps.watch.ended(actionId, 5_000, new AbortController().signal)
  return took
}

const QUEUE = 'bare'
const boss = new PgBoss({ connectionString: url, schema: 'bare', useListenNotify: true, schedule: false })
boss.on('error', (error) => console.error(error))
await boss.start()
await boss.createQueue(QUEUE, { notify: true })
await boss.work(QUEUE, async () => begun())
const client = new pg.Client(url)
await client.connect()

async function barePickup(): Promise<number> {
  const beginning = nextBeginning()
  await client.query('begin')
  await boss.send(QUEUE, { runId: 'c' }, { db: { executeSql: (text, values) => client.query(text, values) } })
  const committing = performance.now()
  await client.query('commit')
  return (await beginning) - committing
}

answerParent(async ({ rounds }: { rounds: number }) => {
  const [product, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    product.push(await productPickup())
    bare.push(await barePickup())
  }
  return { product, bare }
})
