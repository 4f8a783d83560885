// `up`: API, worker and PostgreSQL in one process.
import { relative } from 'node:path'
import type * as Compose from '../../compose.ts'
import { SETTINGS, type Config } from '../../config.ts'
import { migrateAndSeed } from '../../database.ts'
import { listAccounts } from '../../features/accounts/service.ts'
import { hasOperator, issueWelcomeLink } from '../../features/users/service.ts'
import { sleep, stopwatch } from '../../kernel/clock.ts'
import type { Db } from '../../kernel/database/db.ts'
import { inspectEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from '../../kernel/postgres/embedded.ts'
import { describeUrl, postgresFolder, requireServer } from '../database.ts'
import { readClock } from '../../kernel/database/test-clock.ts'
import { dashboardUrl } from '../dashboard-url.ts'
import { print, showLine, step } from '../output.ts'
import { openLocalHost } from './local-host.ts'
import { runUntilStopped, openService, type ProcessContext } from './service.ts'
import { buildMissingTemplates } from './build-missing-templates.ts'
import { VERSION } from '../../kernel/version.ts'

export async function up(config: Config): Promise<number> {
  const code = await runUntilStopped(config, (serving) => startAll(config, serving))
  if (code === 0) print('Berth has stopped; VMs keep running')
  return code
}

async function startAll(config: Config, serving: ProcessContext): Promise<void> {
  print(`berth ${VERSION} · data in ${shortPath(config.dataDir)} · Ctrl-C stops it, data is kept`)
  const { url } = await step(
    'PostgreSQL',
    () => openDatabase(serving),
    ({ label }) => ({ label }),
  )
  serving.lifecycle.throwIfStopping()
  await openLocalHost(config, url)
  serving.lifecycle.throwIfStopping()
  const roles = { api: true, worker: true, isOnlyProcess: true }
  const { db, api } = await step(
    'API',
    async () => openService(await loadProduct(), serving, url, roles),
    ({ api: address }) => ({
      label: `API ${address}${PUBLIC_PATH} · docs /docs`,
      note: `ready in ${process.uptime().toFixed(1)} s`,
    }),
  )
  if (process.getuid?.() === 0)
    showLine('!', `as root: API, worker, template builds${config.databaseUrl ? '' : ' · not: PostgreSQL'}`, 'why: SECURITY.md')
  await buildMissingTemplates(serving, db)
  print(`\n${await nextSteps(config, db, api!)}\n`)
}

/** Blocks the event loop for about 0.3 s. */
const loadProduct = (): Promise<typeof Compose> => import('../../compose.ts')

const PUBLIC_PATH = '/api/public/v1'

interface Database {
  url: string
  label: string
}

async function openDatabase(serving: ProcessContext): Promise<Database> {
  const { config } = serving
  const { url, label } = config.databaseUrl
    ? { url: config.databaseUrl, label: `PostgreSQL ${await requireServer(config.databaseUrl)} at ${describeUrl(config.databaseUrl)}` }
    : await startPostgres(serving)
  const { version } = await migrateAndSeed(config, url)
  return { url, label: `${label}, schema ${version.split('_')[0]}` }
}

async function startPostgres({ config, log, stack }: ProcessContext): Promise<Database> {
  const report = (message: string): void => log.error(message)
  const launched = (): void => void loadProduct().catch(() => {}) // the awaiting import reports the error
  const postgres = await superviseAlone(() => startEmbeddedPostgres({ dataDir: postgresFolder(config), report, launched }))
  if (!postgres) {
    const { owner } = await inspectEmbeddedPostgres(postgresFolder(config))
    throw new Error(
      `Berth is already running on this data (pid ${owner ?? 'unknown'}). Stop it first, or set BERTH_DATA_DIR and BERTH_PORT to run another one`,
    )
  }
  stack.defer(() => postgres.stop())
  return { url: postgres.url, label: `PostgreSQL ${postgres.version.split('.')[0]} (embedded)` }
}

/** How long a process on the same data may take to exit after it was asked to stop. */
const PREDECESSOR_TIMEOUT_MS = 5_000

/** Two processes would count rate limits separately, and the first to stop would shut down the other's database. */
async function superviseAlone(start: () => Promise<EmbeddedPostgres>): Promise<EmbeddedPostgres | undefined> {
  const elapsed = stopwatch()
  for (;;) {
    const postgres = await start()
    if (postgres.how !== 'joined') return postgres
    if (elapsed() > PREDECESSOR_TIMEOUT_MS) return undefined
    await sleep(200)
  }
}

async function nextSteps(config: Config, db: Db, address: string): Promise<string> {
  const dashboard = dashboardUrl({ ...config, port: Number(new URL(address).port) })
  if (await hasOperator(db)) return ` Dashboard ${dashboard} · accounts, tokens, plans:  npx berthd --help`
  const { url } = await issueWelcomeLink(db, await readClock(db, config.testClock), dashboard)
  const welcome = ` Dashboard (works once, 15 min):  ${url}`
  return (await listAccounts(db)).length === 0 ? `${welcome}\n${firstSteps(config, address)}` : welcome
}

function firstSteps({ dataDir, port }: Config, address: string): string {
  const settings = [
    dataDir === SETTINGS.dataDir.fallback ? '' : `BERTH_DATA_DIR=${dataDir} `,
    String(port) === SETTINGS.port.fallback ? '' : `BERTH_PORT=${new URL(address).port} `,
  ]
  return ` Or here:                         ${settings.join('')}npx berthd quickstart`
}

function shortPath(path: string): string {
  const below = relative(process.cwd(), path)
  return below && !below.startsWith('..') ? below : path
}
