import { copyOfBase, type Postgres, type Stage } from './vms-database.ts'
import type { Load } from './vms-load.ts'
import { startProgram } from './vms-process.ts'
import { each, inTurns, SLICE_MS, sliceOf, startServer, type Server, type Slice } from './vms-load-rounds.ts'
import { printRatio } from './vms-table.ts'

const CONNECTIONS = 8

/** Everyone creates in a database of their own, so that all of them grow alike. */
export async function measureCreates(postgres: Postgres, { maker, body }: Stage, growTo: number): Promise<void> {
  const [ours, theirs, untouched] = [
    await copyOfBase(postgres, 'creates'),
    await copyOfBase(postgres, 'bare_creates'),
    await copyOfBase(postgres, 'fresh_creates'),
  ]
  const [loader, product, bare] = await Promise.all([
    startProgram('vms-load.ts'),
    startServer('vms-product.ts', ours, postgres.folder),
    startServer('vms-bare-create.ts', theirs, maker.accountId),
  ])
  const post = (server: Server, load: Pick<Load, 'connections' | 'ms' | 'count'>): Slice =>
    sliceOf(loader, postgres, server, { token: maker.token, method: 'POST', paths: ['/api/public/v1/vms'], body, ...load })

  const alone = { connections: 1, ms: SLICE_MS }
  const [one, bareOne] = await inTurns(post(product, alone), post(bare, alone))
  printRatio('POST /vms, p50 on one connection', { ours: each(one, 'p50'), floor: each(bareOne, 'p50'), unit: 'ms' }, { most: 2.5 })
  printRatio('POST /vms, CPU', { ours: each(one, 'cpu'), floor: each(bareOne, 'cpu'), unit: 'µs' })
  const busy = { connections: CONNECTIONS, ms: SLICE_MS }
  const [eight, bareEight] = await inTurns(post(product, busy), post(bare, busy))
  const rates = { ours: each(eight, 'perSecond'), floor: each(bareEight, 'perSecond'), unit: '/s' }
  printRatio(`POST /vms, requests on ${CONNECTIONS} connections`, rates, { least: 0.5 })

  await post(product, { connections: CONNECTIONS, count: growTo })()
  const fresh = await startServer('vms-product.ts', untouched, postgres.folder)
  const [grown, start] = await inTurns(post(product, { connections: 1, count: 40 }), post(fresh, { connections: 1, count: 40 }))
  const what = `POST /vms after ${growTo.toLocaleString('en')} ÷ at the start, p50`
  printRatio(what, { ours: each(grown, 'p50'), floor: each(start, 'p50'), unit: 'ms' }, { most: 1.2 })
  await Promise.all([loader, product, bare, fresh].map((program) => program.stop()))
}
