// The only file that constructs long-lived objects and wires them. A process is an API, a worker, or both.
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { MIGRATIONS } from './database.ts'
import { openTokens } from './features/accounts/tokens.ts'
import { createBackupTargetPool, type OpenStore } from './features/backup-targets/pool.ts'
import { openTarget } from './features/backup-targets/service.ts'
import { serveBranding } from './features/branding/files.ts'
import { openBranding } from './features/branding/service.ts'
import { openAuditTrail } from './features/audit-log/audit-trail.ts'
import { BUDGET_HEADERS, sendBudgetHeaders } from './features/budgets/headers.ts'
import { serveConsoles } from './features/consoles/websocket-endpoint.ts'
import type { Deps, Routes } from './features/deps.ts'
import { openEventFeed } from './features/events/feed.ts'
import { hooks, messages, personalRoutes, reconcilers, routes, workflows } from './features/index.ts'
import { findNetworkController } from './features/catalog/service.ts'
import { serveBundles } from './features/hosts/bundles.ts'
import { findHostIdIn, findHostToCall, syncDriverPool, listHosts } from './features/hosts/service.ts'
import { imageFinder, isoFinder } from './features/images/copies.ts'
import { withFetching } from './features/images/template-images.ts'
import { openStoragePools } from './features/storage/service.ts'
import { serveInvoices } from './features/invoices/page.ts'
import { servePayments } from './features/payments/stripe-webhook-endpoint.ts'
import { openPayments } from './features/payments/create-provider.ts'
import { bySession } from './features/sessions/authenticate.ts'
import { sendNewCookies } from './features/sessions/cookie.ts'
import { serveSignIn, type SignInRoutes } from './features/sessions/sign-in.routes.ts'
import { readAuthorityFiles, type AuthorityStore } from './host-setup/authority-files.ts'
import { issueChassis, renewClientCertificate } from './host-setup/certificate-authority.ts'
import { openHostSetup } from './host-setup/enrollment.ts'
import { pkiFolder, takePkiFolder } from './host-setup/pki-folder.ts'
import { directAccess } from './hypervisor/local-access.ts'
import type { Api } from './http/api/api.ts'
import { serveDocs } from './http/docs/docs.ts'
import { allowOrigins } from './http/server/cors.ts'
import { serveHealth, type Health } from './http/server/health.ts'
import { deleteExpiredKeys } from './http/api/idempotency.ts'
import { type Mount, mountApi } from './http/api/mount.ts'
import type { Operation } from './http/api/operation.ts'
import { requireSameOrigin } from './http/server/origin.ts'
import { keepAssets, keptAssets } from './http/server/kept-assets.ts'
import { createStaticSite } from './http/server/static-site.ts'
import { rateLimit, type RateLimit } from './http/api/rate-limit.ts'
import { createServer } from './http/server/server.ts'
import { createDriverPool } from './hypervisor/driver-pool.ts'
import type { Driver } from './hypervisor/driver.ts'
import type { ImageSource } from './hypervisor/image-source.ts'
import type { LocalAccess } from './hypervisor/local-access.ts'
import type { NetworkController } from './hypervisor/network-controller.ts'
import { createNetworkControllerPool } from './hypervisor/network-controller-pool.ts'
import { simulatedDrivers } from './hypervisor/simulated/driver.ts'
import type { Pace } from './hypervisor/simulated/latency.ts'
import { simulatedNetworkControllers } from './hypervisor/simulated/network-controller.ts'
import { openOwnImages, ownImagesFolder } from './images/own-images.ts'
import { openImageStore } from './images/store.ts'
import { createInvariantMonitor } from './invariants/monitor.ts'
import { sleepUnless, subtractDuration, type Clock } from './kernel/clock.ts'
import {
  deleteExpiredCounters,
  memoryCounters,
  postgresCounters,
  redisCounters,
  withFallback,
  type Counters,
} from './kernel/database/window-counters.ts'
import { openDb, type Db } from './kernel/database/db.ts'
import { pruneJoinTokens } from './kernel/database/join-token.ts'
import { openClock } from './kernel/database/test-clock.ts'
import { rateLimitedWarn, type Log } from './kernel/log.ts'
import { openMailer, type Mailer } from './kernel/net/smtp.ts'
import { vaultFrom } from './kernel/crypto.ts'
import { openVerifiedVault } from './kernel/database/master-key.ts'
import { createMetrics, type Metrics } from './kernel/metrics.ts'
import { traceCalls } from './kernel/tracing.ts'
import { openOutbound, type OutboundOptions } from './kernel/net/outbound-http.ts'
import { startEngine, type WorkflowEngine } from './workflow/engine.ts'
import { listenForTriggers, startReconcilers, type Reconciler } from './workflow/reconciler-loop.ts'
import type { AnyWorkflow } from './workflow/executor.ts'
import { deleteRunsEndedBefore } from './workflow/run-store.ts'
import { createRunWatcher } from './workflow/run-watcher.ts'

/** How long ended runs are kept. */
const KEEP_RUNS = '90d'

export const PUBLIC_PREFIX = '/api/public/v1'
export const DASHBOARD_PREFIX = '/api/dashboard'

/** What a process without root has from the one that started it. */
export interface RootAccess extends Pick<LocalAccess, 'connect'> {
  masterKey: Buffer
}

export interface Core {
  deps: Deps
  engine: WorkflowEngine
  /** Every `close` drains until `deadline` is aborted; by default after BERTH_DRAIN_SECONDS. */
  close(deadline?: AbortSignal): Promise<void>
}

export interface CoreOptions {
  worker: boolean
  root?: RootAccess | undefined
  clock?: Clock
  /** Workflows in addition to the built-in ones. */
  workflows?: AnyWorkflow[]
  /** Latency of the simulated hypervisor; realistic by default. */
  pace?: Pace
  /** Name resolution and request timeout, for tests. */
  outbound?: Pick<OutboundOptions, 'resolve' | 'timeoutMs'>
  /** Buckets in memory, for tests. */
  openStore?: OpenStore
}

/** Database, secrets and workflow engine, which every process has. */
export async function openCore(config: Config, url: string, log: Log, options: CoreOptions): Promise<Core> {
  const payments = openPayments(config)
  const metrics = createMetrics()
  const db = openDb({
    url,
    maxConnections: config.databaseConnections,
    onError: rateLimitedWarn(log, 'database connection error'),
    onDeadlock: () => metrics.deadlocks.inc(),
  })
  const { root } = options
  const vault = root ? vaultFrom(root.masterKey) : await openVerifiedVault(db, config.masterKeyFile)
  if (!root) await takeOldAuthorities({ db, vault }, config, log)
  const access = { ...directAccess((names) => readAuthorityFiles({ db, vault }, names)), ...(root && { connect: root.connect }) }
  const time = options.clock ? null : await openClock(db, config.testClock)
  const clock = options.clock ?? time!.clock
  const known = [...workflows, ...(options.workflows ?? [])]
  const engine = await startEngine({ db, clock, log, metrics }, { workflows: known, supervise: options.worker })
  const backupTargets = createBackupTargetPool(async (target) =>
    traceCalls(await (options.openStore?.(target) ?? openTarget(vault, target)), 's3', { 'berth.target_id': target.id }),
  )
  const images = openOwnImages(ownImagesFolder(config.imagesDir))
  const findImage = imageFinder(images, { db, vault, clock, backupTargets })
  const isos = isoFinder(images, { db, vault, clock, backupTargets })
  const templates = withFetching(openImageStore(config.imagesDir, clock), { db, vault, clock, backupTargets })
  const simulated = { db, clock, findImage, ...(options.pace && { pace: options.pace }) }
  const storage = openStoragePools({ db, vault, dataDir: config.dataDir })
  const hypervisors = createDriverPool({
    factories: {
      simulated: (host) => traceDriver(simulatedDrivers(simulated)(host)),
      libvirt: async (host) => {
        const { libvirtDrivers } = await import('./hypervisor/libvirt/driver.ts') // imported on demand: a hundred files that simulated hosts do not need
        const all: ImageSource = { open: async (template) => (await findImage(template)) ?? templates.open(template) }
        return traceDriver(libvirtDrivers({ log, images: all, isos, storage, access })(host))
      },
    },
    lookup: (hostId) => findHostToCall(db, hostId),
  })
  const networkControllers = createNetworkControllerPool({
    lookup: (regionId) => findNetworkController(db, regionId),
    open: async (regionId, uri) => {
      const traced = (controller: NetworkController) => traceCalls(controller, 'network', { 'berth.region_id': regionId })
      if (uri === null)
        return traced(simulatedNetworkControllers({ ...simulated, findHostId: (id, name) => findHostIdIn(db, id, name) })(regionId))
      const { openOvn } = await import('./hypervisor/ovn/controller.ts') // imported on demand: simulated regions do not need it
      return traced(openOvn(uri, { log, access }))
    },
  })
  const unfollow = syncDriverPool({ db, hypervisors, log })
  const watch = await createRunWatcher(db)
  const feed = openEventFeed(db)
  const audit = openAuditTrail({ db, clock, log })
  const outbound = openOutbound({ allowPrivate: config.allowPrivateWebhooks, ownNames: ownNames(config), ...options.outbound })
  const mailer = mailerOf(config)
  const deps: Deps = {
    config,
    db,
    clock,
    log,
    metrics,
    vault,
    branding: openBranding(db, log),
    payments,
    workflows: engine,
    watch,
    feed,
    audit,
    outbound,
    mailer,
    hypervisors,
    networkControllers,
    backupTargets,
    storage,
    images,
    templates,
    issueChassis: (name) => issueChassis({ db, vault }, name),
    hostSetup: openHostSetup({ db, vault }, access),
    hooks,
  }
  return {
    deps,
    engine,
    async close(deadline = drainDeadline(config)) {
      await engine.drain(deadline)
      await engine.stop()
      unfollow()
      await Promise.all([hypervisors.close(), networkControllers.close()])
      backupTargets.close()
      await watch.close()
      await time?.close()
      await outbound.close()
      mailer?.close()
      await audit.close()
      await db.close()
    },
  }
}

const traceDriver = (driver: Driver): Driver => traceCalls(driver, 'host', { 'berth.host_id': driver.hostId })

async function takeOldAuthorities(store: AuthorityStore, { dataDir }: Config, log: Log): Promise<void> {
  const others = await takePkiFolder(store, dataDir)
  if (others.length > 0)
    log.warn({ folder: pkiFolder(dataDir), others }, 'folder has other certificate authorities than the database; not taken')
}

/** Email is disabled without an SMTP server. */
function mailerOf({ smtpUrl, mailFrom }: Config): Mailer | null {
  if (smtpUrl === null) return null
  if (mailFrom === null) throw new Error('BERTH_SMTP_URL is set but BERTH_MAIL_FROM is not: set the sender of emails')
  return openMailer({ url: smtpUrl, from: mailFrom })
}

/** Our own public name: webhooks to it are rejected. */
function ownNames({ publicUrl }: Config): string[] {
  const hostname = publicUrl && URL.parse(publicUrl)?.hostname
  return hostname ? [hostname] : []
}

const drainDeadline = ({ drainSeconds }: Config): AbortSignal => AbortSignal.timeout(drainSeconds * 1000)

export interface ApiProcess {
  app: FastifyInstance
  operations: Operation[]
  /** Only those of the dashboard. */
  dashboardOperations: Operation[]
  /** Before other processes are asked for files of the dashboard that this one has. */
  keepAssets(): Promise<void>
  close(deadline?: AbortSignal): Promise<void>
}

/** `isOnlyProcess`: no other process counts requests, so in-memory counters are exact. */
export async function openApi({ deps }: Core, options: { isOnlyProcess: boolean }): Promise<ApiProcess> {
  const { config, db, clock, log, metrics } = deps
  const counters = await openCounters(config, db, clock, log, metrics, options.isOnlyProcess)
  const limits = rateLimit(counters, clock)
  const tokens = await openTokens(db, clock)
  const skin = async () => (await deps.branding.current()).skin
  const app = createServer({
    log,
    metrics,
    rateLimit: limits,
    trustedProxies: config.trustedProxies,
    pages: createStaticSite(config.webDir, { publicUrl: config.publicUrl, kept: keptAssets(db), skin }),
    isDraining: () => health.isDraining(),
  })
  allowOrigins(app, PUBLIC_PREFIX, config.corsOrigins, BUDGET_HEADERS)
  const health = serveHealth(app, db, MIGRATIONS)
  health.check('host', async () =>
    (await listHosts(db)).length > 0 ? null : 'no hosts: berthd up sets up this machine, berthd host add adds another',
  )
  const { authenticate, hasWorked } = tokens
  const mount = { prefix: PUBLIC_PREFIX, authenticate, hasWorked, rateLimit: limits, hooks: sendBudgetHeaders(deps) }
  const operations = await mountApi(app, mount, deps, (api) => routes.forEach((each) => each(api, deps)))
  const dashboard = await openDashboard(app, deps, { limits, counters, runChecks: health.runChecks })
  const consoles = await serveConsoles(app, deps, { rateLimit: limits })
  servePayments(app, deps, limits)
  serveInvoices(app, deps, limits)
  serveBundles(app, deps, limits)
  serveBranding(app, deps, limits)
  serveDocs(app, { prefix: PUBLIC_PREFIX, operations, webhooks: messages, rateLimit: limits, skin })
  const flushing = setInterval(() => {
    void tokens.flush().catch((error: unknown) => log.warn({ err: error }, 'flushing token last-used times failed'))
    void deps.audit.sweep()
  }, 10_000)
  return {
    app,
    operations,
    dashboardOperations: dashboard.operations,
    keepAssets: () => keepAssets(deps, config.webDir),
    async close(deadline = drainDeadline(config)) {
      health.drain()
      if (!options.isOnlyProcess) await sleepUnless(deadline, config.drainDelaySeconds * 1000) // until load balancers know
      deps.watch.release()
      await Promise.all([deps.feed.close(), consoles.close()]) // long-lived streams and WebSockets never end by themselves
      clearInterval(flushing)
      await closeServer(app, deadline)
      await dashboard.close()
      await tokens.close()
      await counters.close()
    },
  }
}

/** Mounts the same routes for sessions instead of tokens, and the routes that only sessions have. */
async function openDashboard(
  app: FastifyInstance,
  deps: Deps,
  { limits, counters, runChecks }: { limits: RateLimit; counters: Counters; runChecks: Health['runChecks'] },
): Promise<SignInRoutes> {
  const { publicUrl } = deps.config
  const mount: Omit<Mount, 'prefix'> = {
    ...bySession(deps),
    rateLimit: limits,
    requestGuard: (request) => requireSameOrigin(request, publicUrl),
    hooks: (scope) => {
      sendNewCookies(scope, publicUrl)
      sendBudgetHeaders(deps)(scope)
    },
  }
  const signIn = serveSignIn(app, deps, { prefix: DASHBOARD_PREFIX, rateLimit: limits, counters })
  const of = (all: Routes[]) => (api: Api) => all.forEach((each) => each(api, deps))
  await mountApi(app, { ...mount, prefix: `${DASHBOARD_PREFIX}/v1` }, deps, of(routes))
  const personal = await mountApi(app, { ...mount, prefix: DASHBOARD_PREFIX }, deps, of(personalRoutes(counters, runChecks)))
  return { operations: [...signIn.operations, ...personal], close: signIn.close }
}

/** Stops listening, waits for open requests, and closes the remaining connections at the deadline. */
async function closeServer(app: FastifyInstance, deadline: AbortSignal): Promise<void> {
  const cutOff = (): void => app.server.closeAllConnections()
  deadline.addEventListener('abort', cutOff)
  const closed = app.close()
  if (deadline.aborted) cutOff()
  await closed
  deadline.removeEventListener('abort', cutOff)
}

async function openCounters(config: Config, db: Db, clock: Clock, log: Log, metrics: Metrics, isOnlyProcess: boolean): Promise<Counters> {
  if (isOnlyProcess && !config.redisUrl) return memoryCounters(clock)
  const shared = config.redisUrl
    ? await redisCounters(config.redisUrl, (error) => log.debug({ err: error }, 'redis client error'))
    : postgresCounters(db, clock)
  return withFallback(shared, memoryCounters(clock), () => metrics.limiterFallbacks.inc())
}

async function pruneRuns({ db, clock }: Deps): Promise<void> {
  while ((await deleteRunsEndedBefore(db, subtractDuration(clock.now(), KEEP_RUNS))) > 0);
}

/** Everything that a worker does by itself, and how often. */
export const loopsOf = ({ engine }: Pick<Core, 'engine'>): Reconciler<Deps>[] => [
  ...reconcilers,
  { name: 'workflow.rescue', everyMs: 5_000, runOnce: () => engine.requeueAbandonedRuns() },
  { name: 'idempotency_keys.prune', everyMs: 60_000, runOnce: ({ db, clock }) => deleteExpiredKeys(db, clock.now()) },
  { name: 'rate_limits.prune', everyMs: 60_000, runOnce: ({ db, clock }) => deleteExpiredCounters(db, clock.now()) },
  { name: 'join_tokens.prune', everyMs: 60_000, runOnce: ({ db, clock }) => pruneJoinTokens(db, clock.now()) },
  { name: 'workflow_runs.prune', everyMs: 3_600_000, runOnce: pruneRuns },
  { name: 'certificate.renew', everyMs: 86_400_000, runOnce: renewClientCertificate },
  { name: 'invariants.check', everyMs: 300_000, runOnce: createInvariantMonitor() },
]

/** Runs workflows and reconcilers. */
export async function openWorker(core: Core): Promise<{ close(deadline?: AbortSignal): Promise<void> }> {
  const { deps, engine } = core
  await engine.work(deps, deps.config.workerConcurrency)
  const loops = startReconcilers(deps, loopsOf(core))
  const stopListening = await listenForTriggers(deps.db, loops)
  return {
    close: async (deadline = drainDeadline(deps.config)) =>
      void (await Promise.all([stopListening(), loops.stop(), engine.drain(deadline)])),
  }
}
