// What `up` starts, in order: PostgreSQL, this machine as a host, API and worker, template builds.
import type * as Compose from '../../compose.ts'
import { SETTINGS, type Config } from '../../config.ts'
import { migrateAndSeed, nameProgram } from '../../database.ts'
import { listAccounts } from '../../features/accounts/service.ts'
import { noteBuilding, noteBuilt } from '../../features/catalog/service.ts'
import { hasOperator, issueWelcomeLink } from '../../features/users/service.ts'
import { takePkiFolder } from '../../host-setup/pki-folder.ts'
import { sleep, stopwatch } from '../../kernel/clock.ts'
import { vaultFrom } from '../../kernel/crypto.ts'
import { openDb, type Db } from '../../kernel/database/db.ts'
import { readVerifiedKey } from '../../kernel/database/master-key.ts'
import { SERVICE_USER } from '../../kernel/os-user.ts'
import { POSTGRES_USER } from '../../kernel/postgres/os-user.ts'
import { inspectEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from '../../kernel/postgres/embedded.ts'
import { describeUrl, postgresFolder, requireServer } from '../database.ts'
import { readClock } from '../../kernel/database/test-clock.ts'
import { dashboardUrl } from '../dashboard-url.ts'
import { print, shortPath, showLine, step } from '../output.ts'
import { openLocalHost } from './local-host.ts'
import type { Launched, UnprivilegedService } from './privileged.ts'
import { openService, type ProcessContext, type Service } from './service.ts'
import { buildMissingTemplates } from './build-missing-templates.ts'

export async function startAll(serving: ProcessContext, launched: Launched | null): Promise<void> {
  const { config } = serving
  const service = launched?.service ?? null
  const { url } = await step(
    'PostgreSQL',
    () => openDatabase(serving, service !== null),
    ({ label }) => ({ label }),
  )
  serving.lifecycle.throwIfStopping()
  const hypervisor = await openLocalHost(config, url)
  serving.lifecycle.throwIfStopping()
  const { db, api } = await step(
    'API',
    () => (service ? openApart(serving, service, url, hypervisor !== 'simulated') : openHere(serving, url)),
    ({ api: address }) => ({
      label: `API ${address}${PUBLIC_PATH} · docs /docs`,
      note: `ready in ${process.uptime().toFixed(1)} s`,
    }),
  )
  if (hypervisor === 'libvirt') await (await import('./network-daemons.ts')).superviseNetworkDaemons(serving) // on demand: it loads the host setup
  if (launched) showUsers(config, launched, hypervisor === 'libvirt')
  await buildMissingTemplates(serving, db, service ?? { noteBuilding, noteBuilt })
  print(`\n${await nextSteps(config, db, api!)}\n`)
}

async function openHere(serving: ProcessContext, url: string): Promise<Opened> {
  return openService(await loadProduct(), serving, url, { api: true, worker: true, isOnlyProcess: true })
}

async function openApart({ config, stack }: ProcessContext, service: UnprivilegedService, url: string, isHost: boolean): Promise<Opened> {
  const db = stack.adopt(openDb({ url, maxConnections: 2, onError: () => {} }), (each) => each.close())
  const key = await readVerifiedKey(db, config.masterKeyFile)
  await takePkiFolder({ db, vault: vaultFrom(key) }, config.dataDir) // the other process may not read it
  return { db, ...(await service.open({ url, masterKey: key.toString('hex') }, isHost)) }
}

type Opened = Pick<Service, 'db' | 'api'>

function showUsers({ databaseUrl, dataDir }: Config, { service, why }: Launched, hasLibvirt: boolean): void {
  const database = databaseUrl ? '' : `, PostgreSQL as ${POSTGRES_USER}`
  if (!service) return showLine('!', `API and worker run as root${database}: ${why}`, '')
  if (service.readsAll)
    showLine('!', `user ${SERVICE_USER} may read all files: move Berth and ${shortPath(dataDir)} out of a closed folder`, '')
  showLine('✓', `API and worker run as ${SERVICE_USER}${database}`, '')
  showLine('✓', `as root: the supervisor that starts them, template builds${hasLibvirt ? ', libvirtd, OVN' : ''}`, 'why: SECURITY.md')
}

/** Blocks the event loop for about 0.3 s. */
const loadProduct = (): Promise<typeof Compose> => import('../../compose.ts')

const PUBLIC_PATH = '/api/public/v1'

interface Database {
  url: string
  label: string
}

async function openDatabase(serving: ProcessContext, isApart: boolean): Promise<Database> {
  const { config } = serving
  const { url, label } = config.databaseUrl
    ? { url: config.databaseUrl, label: `PostgreSQL ${await requireServer(config.databaseUrl)} at ${describeUrl(config.databaseUrl)}` }
    : await startPostgres(serving, isApart)
  const { version } = await migrateAndSeed(config, url)
  return { url: nameProgram(url, 'up'), label: `${label}, schema ${version.split('_')[0]}` }
}

async function startPostgres({ config, log, stack }: ProcessContext, isApart: boolean): Promise<Database> {
  const report = (message: string): void => log.error(message)
  // Where no other process loads the product, it is loaded while PostgreSQL starts. The awaiting import reports the error.
  const launched = (): void => void (isApart || loadProduct().catch(() => {}))
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
