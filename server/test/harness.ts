// A complete product on its own database, with a manual clock. Arrange with `app.given`, act over HTTP, assert what a customer sees.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { openApi, openCore, PUBLIC_PREFIX, type CoreOptions } from '../src/compose.ts'
import { readConfig } from '../src/config.ts'
import { migrateAndSeed } from '../src/database.ts'
import { createAccount, createToken } from '../src/features/accounts/service.ts'
import { credit as creditWallet } from '../src/features/wallet/service.ts'
import { manualClock } from '../src/kernel/clock.ts'
import { findHost } from '../src/features/hosts/service.ts'
import { simulatedControl } from '../src/hypervisor/simulated/control.ts'
import { instantPace } from '../src/hypervisor/simulated/latency.ts'
import { sql } from '../src/kernel/database/db.ts'
import { createLog } from '../src/kernel/log.ts'
import { parseCents } from '../src/kernel/money.ts'
import { dropDatabase } from './drop-database.ts'
import { requireDocumentedErrors } from './documented-errors.ts'
import { restMaker } from './quiesce.ts'
import { settler } from './run-workflows.ts'
import { undocumentedEvents } from './validate-events.ts'

const TEMPLATE = 'berth_template'
/** With a smaller pool of addresses than `up` makes. */
const SMALL_TEMPLATE = `${TEMPLATE}_small`

/** The only seed of the property tests to run, when set. */
export const replayedSeed = process.env['BERTH_TEST_SEED'] ? Number(process.env['BERTH_TEST_SEED']) : null

/** Creates the migrated template databases once per run; the lock serialises parallel test files. */
async function templateUrl(server: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(1)')
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE])
    if (rowCount) return
    await client.query(`create database ${TEMPLATE}_new`)
    const url = withDatabase(server, `${TEMPLATE}_new`)
    await migrateAndSeed({ catalogFile: null, hypervisor: 'simulated' }, url)
    await client.query(`create database ${SMALL_TEMPLATE} template ${TEMPLATE}_new`)
    await shrinkPool(withDatabase(server, SMALL_TEMPLATE))
    await client.query(`alter database ${TEMPLATE}_new rename to ${TEMPLATE}`)
  } finally {
    await client.end()
  }
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.toString()
}

/** Its 65,000 free addresses would be copied into every database and counted by every check of the invariants. */
async function shrinkPool(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`update address_pools set cidr = '10.77.0.0/20'`)
  await client.query(`delete from free_addresses where not address << '10.77.0.0/20' or address = '10.77.15.255'`)
  await client.query('vacuum full free_addresses')
  await client.end()
}

let databases = 0

/** A new migrated database; dropped when the test file ends. */
export async function testDatabase(template = TEMPLATE): Promise<string> {
  await templateUrl(inject('postgresUrl'))
  return createDatabase(`template ${template} strategy file_copy`)
}

/** A database without any table. */
export const emptyDatabase = (): Promise<string> => createDatabase('')

async function createDatabase(options: string): Promise<string> {
  const server = inject('postgresUrl')
  const name = `test_${process.pid}_${++databases}_${Math.random().toString(36).slice(2, 8)}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query('select pg_advisory_lock(1)') // a template cannot be in use while it is copied
  await client.query(`create database ${name} ${options}`).finally(() => client.end())
  afterAll(() => dropDatabase(name))
  return withDatabase(server, name)
}

/** What PostgreSQL logged of the deadlocks in a database: both statements of each. */
function deadlockLog(url: string): string {
  const name = new URL(url).pathname.slice(1)
  const entries = readFileSync(inject('postgresLog'), 'utf8').split(/\n(?=\S+ [A-Z]+: )/)
  const from = entries.findIndex((entry) => entry.startsWith(`${name} ERROR:  deadlock`))
  return entries
    .slice(from)
    .filter((entry) => entry.startsWith(`${name} `))
    .slice(0, 5)
    .join('\n')
}

export interface Answer {
  status: number
  headers: Record<string, string>
  body: {
    success: boolean
    data: any
    error: string
    pagination: { page: number; limit: number; total: number; totalPages: number }
    nextCursor: string | null
  }
}

interface RequestOptions {
  token?: string
  body?: unknown
  headers?: Record<string, string>
  /** Remote address. */
  address?: string
}

/** Tests query no name server. */
const unknownName = (host: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(`${host} is not known here`), { code: 'ENOTFOUND' }))

export type TestApp = Awaited<ReturnType<typeof testApp>>

export interface TestAppOptions {
  environment?: Record<string, string>
  /** Name resolution and timeout of webhook receivers; by default no name resolves. */
  outbound?: CoreOptions['outbound']
  /** The buckets of backup targets. */
  openStore?: CoreOptions['openStore']
  /** Everything that is logged; by default nothing is. */
  logTo?: Writable
  /** Invariants that the test violates on purpose; all others must hold when it ends. */
  breaks?: string[]
}

export async function testApp(options: TestAppOptions = {}) {
  const url = await testDatabase(SMALL_TEMPLATE)
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const base = {
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    BERTH_DRAIN_SECONDS: '1',
    BERTH_HYPERVISOR: 'simulated',
    BERTH_BACKUP_PROOF_SHARE: '0',
  }
  const config = readConfig({ ...base, ...options.environment })
  const clock = manualClock()
  const log = options.logTo
    ? createLog({ level: 'trace', pretty: false, to: options.logTo })
    : createLog({ level: process.env['BERTH_TEST_LOG'] ?? 'silent', pretty: false })
  const core = await openCore(config, url, log, {
    worker: false,
    clock,
    pace: instantPace,
    outbound: { resolve: unknownName, ...options.outbound },
    ...(options.openStore && { openStore: options.openStore }),
  })
  const { deps } = core
  const { app, operations, dashboardOperations, close } = await openApi(core, { isOnlyProcess: true })
  requireDocumentedErrors(app, [...operations, ...dashboardOperations])
  afterAll(async () => {
    await close()
    await core.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const request = async (method: string, path: string, { token, body, headers, address }: RequestOptions = {}): Promise<Answer> => {
    const response = await app.inject({
      method: method as 'GET',
      url: path.startsWith('/api/') ? path : `${PUBLIC_PREFIX}${path}`,
      headers: { ...(token && { 'x-api-key': token }), ...headers },
      ...(body !== undefined && { payload: body as object }),
      ...(address && { remoteAddress: address }),
    })
    const json = /json/.test(response.headers['content-type']?.toString() ?? '')
      ? (response.json() as Answer['body'])
      : (undefined as never)
    return { status: response.statusCode, headers: response.headers as Record<string, string>, body: json }
  }

  const clientOf = (token: string) => ({
    get: (path: string, headers?: Record<string, string>) => request('GET', path, { token, ...(headers && { headers }) }),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      request('POST', path, { token, body, ...(headers && { headers }) }),
    put: (path: string, body?: unknown, headers?: Record<string, string>) =>
      request('PUT', path, { token, body, ...(headers && { headers }) }),
    patch: (path: string, body?: unknown, headers?: Record<string, string>) =>
      request('PATCH', path, { token, body, ...(headers && { headers }) }),
    delete: (path: string, headers?: Record<string, string>) => request('DELETE', path, { token, ...(headers && { headers }) }),
  })

  /** Runs every open workflow to its end. */
  const settle = settler(deps, clock)
  const { reconcile, rest, requireInvariants } = restMaker(deps, clock, settle)
  const checkInvariants = (): Promise<void> => requireInvariants(options.breaks)
  afterAll(async () => {
    await rest()
    await checkInvariants()
    const undocumented = await undocumentedEvents(deps.db)
    if (undocumented.length > 0) throw new Error(`Events do not fit their schemas: ${undocumented.join('; ')}`)
    const { values } = await deps.metrics.deadlocks.get()
    if (values.some(({ value }) => value > 0))
      throw new Error(`Transactions waited for each other: they lock the same things in different orders.\n${deadlockLog(url)}`)
  }, 60_000)
  type Customer = ReturnType<typeof clientOf>
  let customers = 0
  const given = {
    /** An account with a token and optional funds; rate limit tests use the default 600 a minute. */
    async customer(options: { scopes?: string[]; requestsPerMinute?: number; credit?: string } = {}) {
      const { scopes = ['*'], requestsPerMinute = 1_000_000, credit } = options
      const email = `customer${++customers}@example.com`
      return deps.db.tx(async (tx) => {
        const account = await createAccount(tx, clock.now(), { email })
        const { id: tokenId, token } = await createToken(tx, clock.now(), account.id, { name: 'test', scopes, requestsPerMinute })
        if (credit) {
          const entry = {
            type: 'CREDIT',
            description: 'Test credit',
            referenceType: 'ADMIN',
            referenceId: account.id,
            currency: config.currency,
          } as const
          await creditWallet(tx, deps, account.id, parseCents(credit), entry)
        }
        return { accountId: account.id, email, token, tokenId, ...clientOf(token) }
      })
    },
    /** A project of a customer, with a token of its own. */
    async project(payer: Customer, name = 'shop') {
      const { status, body } = await payer.post('/projects', { name })
      if (status !== 201) throw new Error(`POST /projects answered ${status}: ${body.error}`)
      const accountId = body.data.id as string
      const { id: tokenId, token, ...client } = await given.token(accountId, { requestsPerMinute: 1_000_000 })
      return { accountId, token, tokenId, ...client }
    },
    /** The minimum input of POST /vms. */
    async vmInput(): Promise<{ regionId: string; osTemplateId: string; hostname: string }> {
      const row = await deps.db.one<{ region: string; template: string }>(sql`
        select (select id from regions order by position limit 1) as region, (select id from os_templates where slug = 'debian-12') as template`)
      return { regionId: row.region, osTemplateId: row.template, hostname: 'web-1' }
    },
    /** A VM of this customer, RUNNING unless `settled` is false. */
    async vm(customer: Customer, input: Record<string, unknown> = {}, { settled = true } = {}): Promise<{ id: string; actionId: string }> {
      const { status, body } = await customer.post('/vms', { ...(await given.vmInput()), ...input })
      if (status !== 202) throw new Error(`POST /vms answered ${status}: ${body.error}`)
      if (settled) await settle({ subjectId: body.data.vm.id as string })
      return { id: body.data.vm.id as string, actionId: body.data.actionId as string }
    },
    async token(accountId: string, input: { scopes?: string[]; expiresAt?: Date; requestsPerMinute?: number; allowedIps?: string[] } = {}) {
      const made = await deps.db.tx((tx) => createToken(tx, clock.now(), accountId, { name: 'test', scopes: ['*'], ...input }))
      return { ...made, ...clientOf(made.token) }
    },
  }
  const host = (await findHost(deps.db, 'local'))!
  const simulated = simulatedControl(deps.db, clock, host.id)
  /** Of the network controller of its region. */
  const { faults: networkFaults } = simulatedControl(deps.db, clock, host.region_id)
  return {
    app,
    core,
    deps,
    db: deps.db,
    clock,
    config,
    operations,
    dashboardOperations,
    request,
    given,
    clientOf,
    settle,
    reconcile,
    rest,
    checkInvariants,
    host,
    simulated,
    networkFaults,
  }
}
