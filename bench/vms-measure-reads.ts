import type { Customer, Postgres, Stage } from './vms-database.ts'
import { fill } from './vms-fill.ts'
import { startProgram } from './vms-process.ts'
import { each, inTurns, SLICE_MS, sliceOf, startServer, type Server, type Slice } from './vms-load-rounds.ts'
import { printRatio } from './vms-table.ts'

const VMS = '/api/public/v1/vms'

export async function measureReads(postgres: Postgres, stage: Stage): Promise<void> {
  const { few, many } = stage
  await fill(postgres.url, stage)
  const [loader, product, floor] = await Promise.all([
    startProgram('vms-load.ts'),
    startServer('vms-product.ts', postgres.url, postgres.folder),
    startServer('vms-baseline.ts', postgres.url, `${few.accountId}=${few.token}`, `${many.accountId}=${many.token}`),
  ])
  const get = (server: Server, { token }: Customer, paths: string[]): Slice =>
    sliceOf(loader, postgres, server, { token, method: 'GET', paths, connections: 16, ms: SLICE_MS })

  const { data } = JSON.parse(await requireSameAnswers(product, floor, few, VMS)) as { data: { id: string }[] }
  const [list, floorList] = await inTurns(get(product, few, [VMS]), get(floor, few, [VMS]))
  printRatio('GET /vms, CPU', { ours: each(list, 'cpu'), floor: each(floorList, 'cpu'), unit: 'µs' }, { most: 1.5 })
  printRatio('GET /vms, requests', { ours: each(list, 'perSecond'), floor: each(floorList, 'perSecond'), unit: '/s' }, { least: 0.65 })
  printRatio('GET /vms, p99', { ours: each(list, 'p99'), floor: each(floorList, 'p99'), unit: 'ms' }, { most: 2 })

  const paths = data.map(({ id }) => `${VMS}/${id}`)
  await requireSameAnswers(product, floor, few, paths[0]!)
  const [one, floorOne] = await inTurns(get(product, few, paths), get(floor, few, paths))
  printRatio('GET /vms/{id}, CPU', { ours: each(one, 'cpu'), floor: each(floorOne, 'cpu'), unit: 'µs' }, { most: 1.6 })

  const far = [`${VMS}?page=2501`]
  const [small, large, deep] = await inTurns(get(product, few, [VMS]), get(product, many, [VMS]), get(product, many, far))
  printRatio('page 1 of 100,000 ÷ page 1 of 20, CPU', { ours: each(large, 'cpu'), floor: each(small, 'cpu'), unit: 'µs' }, { most: 1.5 })
  printRatio('page at offset 50,000 ÷ page 1, CPU', { ours: each(deep, 'cpu'), floor: each(large, 'cpu'), unit: 'µs' }, { most: 15 })
  await Promise.all([loader, product, floor].map((program) => program.stop()))
}

/** A floor that answers something else would be none. It has no cursors: their cost is the product's. */
async function requireSameAnswers(product: Server, floor: Server, { token }: Customer, path: string): Promise<string> {
  const ask = async ({ port }: Server): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': token } })
    return JSON.stringify({ ...((await response.json()) as object), nextCursor: undefined })
  }
  const [ours, theirs] = await Promise.all([ask(product), ask(floor)])
  if (ours !== theirs) {
    let at = 0
    while (ours[at] === theirs[at]) at++
    throw new Error(
      `The floor answers ${path} differently: …${theirs.slice(at - 50, at + 50)}… instead of …${ours.slice(at - 50, at + 50)}…`,
    )
  }
  return ours
}
