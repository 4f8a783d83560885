// Databases to measure on: an account that can afford anything, a host without end, and VMs by the hundred thousand.
import { join } from 'node:path'
import { migrateAndSeed } from '../server/src/database.ts'
import { systemClock } from '../server/src/kernel/clock.ts'
import { hooks } from '../server/src/features/index.ts'
import { createAccount, createToken } from '../server/src/features/accounts/service.ts'
import { credit } from '../server/src/features/wallet/service.ts'
import { openDb, sql, type Db } from '../server/src/kernel/database/db.ts'
import { startEmbeddedPostgres } from '../server/src/kernel/postgres/embedded.ts'
import { findPostmaster } from '../server/src/kernel/postgres/postmaster.ts'
import { allowTestStatements } from '../server/test/allow-test-statements.ts'

export interface Customer {
  accountId: string
  token: string
}

export interface Postgres {
  url: string
  /** Its main process, whose children all others are. */
  pid: number
  /** For what belongs to the product beside its database. */
  folder: string
}

/** Who and what the measurements use. */
export interface Stage {
  few: Customer
  many: Customer
  /** Whose VMs are made by the load. */
  maker: Customer
  /** Of POST /vms. */
  body: string
}

export async function withPostgres<T>(folder: string, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const dataDir = join(folder, 'postgres')
  const { url, superuserUrl, stop } = await startEmbeddedPostgres({ dataDir })
  await allowTestStatements({ url, superuserUrl })
  const { pid } = (await findPostmaster(join(dataDir, 'cluster')))!
  return work({ url, pid, folder }).finally(stop)
}

/** Through one connection, so that what is set stays set. */
export const connect = (url: string): Db => openDb({ url, maxConnections: 1, onError: () => {}, unresponsiveMs: 0 })

/** A product that has nothing yet but three customers; `base` is a copy of it to make others from. */
export async function prepare({ url }: Postgres): Promise<Stage> {
  await migrateAndSeed({ catalogFile: null, hypervisor: 'simulated' }, url)
  const db = connect(url)
  await makeRoom(db)
  const [few, many, maker] = [await addCustomer(db, 'few'), await addCustomer(db, 'many'), await addCustomer(db, 'maker')]
  const ids = await db.one<object>(sql`
    select (select id from regions limit 1) as "regionId", (select id from os_templates where slug = 'debian-12') as "osTemplateId",
      (select id from plans where slug = 'nano') as "planId"`)
  await db.close()
  await copyDatabase(url, 'base')
  return { few, many, maker, body: JSON.stringify({ ...ids, hostname: 'web-1' }) }
}

export const copyOfBase = ({ url }: Postgres, name: string): Promise<string> => copyDatabase(withDatabase(url, 'base'), name)

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.toString()
}

/** Nobody may be connected to the original. */
async function copyDatabase(url: string, name: string): Promise<string> {
  const db = connect(withDatabase(url, 'postgres'))
  await db.raw(`create database ${name} template ${new URL(url).pathname.slice(1)}`).finally(() => db.close())
  return withDatabase(url, name)
}

const PLENTY = 100_000_000

async function makeRoom(db: Db): Promise<void> {
  await db.run(sql`update hosts set vcpu_total = ${PLENTY}, ram_total_mib = ${PLENTY}, disk_total_gib = ${PLENTY},
    uri = ${`simulated:///?vcpu=${PLENTY}&ramMiB=${PLENTY}&diskGiB=${PLENTY}`}`)
}

async function addCustomer(db: Db, name: string): Promise<Customer> {
  const now = systemClock.now()
  return db.tx(async (tx) => {
    const { id } = await createAccount(tx, now, { email: `${name}@example.com` })
    const { token } = await createToken(tx, now, id, { name, scopes: ['*'], requestsPerMinute: 1_000_000 })
    const entry = { type: 'CREDIT', description: 'Money', referenceType: 'ADMIN', referenceId: id, currency: 'USD' } as const
    await credit(tx, { clock: systemClock, hooks }, id, 100_000_000_000n, entry)
    await tx.run(sql`insert into account_quotas (account_id, name, limit_override)
      select ${id}, name, ${PLENTY} from unnest(array['vms', 'vcpu', 'ram_mib', 'disk_gib']) name`)
    return { accountId: id, token }
  })
}
