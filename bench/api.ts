// How fast is reading? The product beside a server without a framework that asks the same database for the same rows, in turns:
// requests per second, processor time, latency; then memory and cold start of the whole. Run: npm run bench:api
// Bounded in time and place: about two minutes, loopback only.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateAndSeed } from '../server/src/database.ts'
import { createAccount, createToken } from '../server/src/features/accounts/service.ts'
import { openDb, sql, type Db } from '../server/src/kernel/database/db.ts'
import { newId } from '../server/src/kernel/ids.ts'
import { withPostgres, type Customer, type Postgres } from './vms-database.ts'
import { startProgram } from './vms-process.ts'
import { each, inTurns, SLICE_MS, sliceOf, startServer, type Server, type Slice } from './vms-load-rounds.ts'
import { missed, printHead, printLimit, printRatio } from './vms-table.ts'
import { bestStart, startUp } from './vms-up.ts'

const PREFIX = '/api/public/v1'

async function addCustomer(db: Db, transactions: number): Promise<Customer> {
  const now = new Date()
  return db.tx(async (tx) => {
    const { id } = await createAccount(tx, now, { email: `with-${transactions}@example.com` })
    const { token } = await createToken(tx, now, id, { name: 'bench', scopes: ['*'], requestsPerMinute: 1_000_000 })
    await tx.run(sql`insert into wallets (account_id, balance_cents, transaction_count) values (${id}, ${transactions}, ${transactions})`)
    await tx.run(sql`
      insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type,
        reference_id, created_at)
      select 'c' || substr(md5(${id} || n), 1, 24), ${id}, n, 'CREDIT', 1, n, 'A credit of one cent, number ' || n, 'ADMIN', ${newId()}, now()
      from generate_series(1, ${transactions}::int) n`)
    await tx.run(sql`
      insert into ssh_keys (id, account_id, name, type, fingerprint, public_key, created_at)
      select 'c' || substr(md5(${id} || 'key' || n), 1, 24), ${id}, 'key ' || n, 'ssh-ed25519', 'SHA256:' || md5(${id} || n),
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA' || md5(${id} || n), now() from generate_series(1, 20) n`)
    await tx.run(sql`
      insert into account_quotas (account_id, name, used) values (${id}, 'ssh_keys', 20)
      on conflict (account_id, name) do update set used = 20`)
    return { accountId: id, token }
  })
}

async function fill({ url }: Postgres): Promise<Customer[]> {
  await migrateAndSeed({ catalogFile: null, hypervisor: 'simulated' }, url)
  const db = openDb({ url, maxConnections: 2, onError: () => {} })
  const customers = [await addCustomer(db, 100_000), await addCustomer(db, 100)]
  await db.raw('vacuum analyze')
  await db.close()
  return customers
}

async function measureReads(postgres: Postgres, many: Customer, few: Customer): Promise<void> {
  const [loader, product, floor] = await Promise.all([
    startProgram('vms-load.ts'),
    startServer('vms-product.ts', postgres.url, postgres.folder),
    startServer('api-baseline.ts', postgres.url, JSON.stringify([many, few])),
  ])
  const get = (server: Server, { token }: Customer, path: string): Slice =>
    sliceOf(loader, postgres, server, { token, method: 'GET', paths: [`${PREFIX}${path}`], connections: 16, ms: SLICE_MS })
  for (const path of ['/regions', '/wallet/transactions', '/ssh-keys']) {
    await requireSameAnswers([product, floor], many, path)
    await inTurns(get(product, many, path), get(floor, many, path)) // until the code is compiled
    const [ours, theirs] = await inTurns(get(product, many, path), get(floor, many, path))
    const sides = (name: 'cpu' | 'perSecond' | 'p99', unit: string) => ({ ours: each(ours, name), floor: each(theirs, name), unit })
    printRatio(`GET ${path}, requests`, sides('perSecond', '/s'), { least: 0.65 })
    printRatio(`GET ${path}, CPU`, sides('cpu', 'µs'), { most: 1.5 })
    printRatio(`GET ${path}, p99`, sides('p99', 'ms'))
  }
  const page = '/wallet/transactions'
  const [large, small] = await inTurns(get(product, many, page), get(product, few, page))
  printRatio('page 1 of 100,000 ÷ page 1 of 100, CPU', { ours: each(large, 'cpu'), floor: each(small, 'cpu'), unit: 'µs' }, { most: 1.5 })
  await Promise.all([loader, product, floor].map((program) => program.stop()))
}

/** A floor that answers something else would be none. It has no cursors: their cost is the product's. */
async function requireSameAnswers(servers: Server[], { token }: Customer, path: string): Promise<void> {
  const ask = async ({ port }: Server): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${PREFIX}${path}`, { headers: { 'x-api-key': token } })
    return JSON.stringify({ ...((await response.json()) as object), nextCursor: undefined })
  }
  const answers = new Set(await Promise.all(servers.map(ask)))
  if (answers.size > 1) throw new Error(`The floor answers ${path} differently:\n${[...answers].join('\n')}`)
}

/** Of the whole product as it is run: API, worker and PostgreSQL. */
async function measureStart(folder: string): Promise<void> {
  // The first one of a data folder also compiles the program.
  printLimit('cold start, 100,000 transactions', await bestStart([folder, folder, folder]), 1.2, 's')
  const up = await startUp(folder)
  printLimit('memory', up.memory(), 250, 'MB')
  await up.stop()
}

await using stack = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))
printHead()
await withPostgres(folder, async (postgres) => {
  const [many, few] = await fill(postgres)
  await measureReads(postgres, many!, few!)
})
await measureStart(folder)
process.exitCode = missed() > 0 ? 1 : 0
