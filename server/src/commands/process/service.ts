// Opens the parts of a process (API, worker, metrics) and closes them in the right order.
import { mkdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import type * as Compose from '../../compose.ts'
import type { RootAccess } from '../../compose.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../kernel/database/db.ts'
import { createLog, type Log } from '../../kernel/log.ts'
import { findPortHolder } from '../port-owner.ts'
import { explain } from '../errors.ts'
import { printable } from '../output.ts'
import { Interrupted, ProcessLifecycle } from './lifecycle.ts'

export interface ProcessContext {
  config: Config
  lifecycle: ProcessLifecycle
  log: Log
  /** Closed in reverse order. */
  stack: AsyncDisposableStack
}

/** Runs until a stop is requested, then closes everything that `start` opened, and returns the exit code. `quiet`: another process says so. */
export async function runUntilStopped(
  config: Config,
  start: (serving: ProcessContext) => Promise<void>,
  { quiet = false, drainSeconds = config.drainSeconds } = {},
): Promise<number> {
  const lifecycle = new ProcessLifecycle(drainSeconds)
  const log = createLog({
    level: config.logLevel,
    pretty: config.logFormat === 'auto' ? process.stdout.isTTY : config.logFormat === 'pretty',
  })
  const stack = new AsyncDisposableStack()
  try {
    await createDataFolder(config)
    await start({ config, lifecycle, log, stack })
    await lifecycle.stopRequested()
    if (!quiet) log.info({ reason: lifecycle.stopReason }, 'shutting down')
  } catch (error) {
    if (!(error instanceof Interrupted)) lifecycle.failure ??= error
  }
  await stack.disposeAsync().catch((error: unknown) => (lifecycle.failure ??= error))
  if (lifecycle.failure) process.stderr.write(`\n${printable(explain(lifecycle.failure))}\n`)
  return lifecycle.failure ? 1 : 0
}

async function createDataFolder({ dataDir }: Config): Promise<void> {
  await mkdir(dataDir, { recursive: true }).catch((error: Error) => {
    throw new Error(`The data folder ${dataDir} cannot be created: ${error.message}. Set BERTH_DATA_DIR to a writable folder`)
  })
}

export interface Roles {
  api: boolean
  worker: boolean
  /** No other process serves this database, so rate limits are counted in memory. */
  isOnlyProcess: boolean
  /** Of a process without root. */
  root?: RootAccess & { findPortHolder: typeof findPortHolder }
}

export interface Service {
  db: Db
  /** The URL of the API, when it is served. */
  api: string | null
  metrics: string | null
}

/** `compose` is a parameter because importing it takes half a second, which the caller can overlap. */
export async function openService(
  compose: typeof Compose,
  { config, lifecycle, log, stack }: ProcessContext,
  url: string,
  roles: Roles,
): Promise<Service> {
  const parts: { close(deadline: AbortSignal): Promise<void> }[] = []
  await openTracing(config, log, stack, roles)
  const core = await compose.openCore(config, url, log, { worker: roles.worker, root: roles.root })
  stack.defer(() => lifecycle.waitFor(core.close(lifecycle.drainDeadline)))
  stack.defer(() => lifecycle.waitFor(Promise.all(parts.map((part) => part.close(lifecycle.drainDeadline)))))
  const api = roles.api ? await compose.openApi(core, { isOnlyProcess: roles.isOnlyProcess }) : null
  if (api) {
    parts.push(api)
    const kept = api.keepAssets().catch((error: unknown) => log.warn({ err: error }, 'keeping files of the dashboard failed'))
    if (!roles.isOnlyProcess) await kept // another process is asked for them as soon as this one sends a page
  }
  if (roles.worker) parts.push(await compose.openWorker(core))
  lifecycle.throwIfStopping()
  const address = api && (await listen(api.app, config, roles.root?.findPortHolder ?? findPortHolder))
  return { db: core.deps.db, api: address, metrics: await openMetrics(core, config, log, stack) }
}

/** Before anything else is opened: what is off then stays so. */
async function openTracing(config: Config, log: Log, stack: AsyncDisposableStack, { api, worker }: Roles): Promise<void> {
  const { otlpUrl: url, otlpHeaders, tracePercent: percent } = config
  if (url === null) return
  const { startTracing } = await import('../../kernel/otlp.ts') // on demand: it takes memory and time to start
  const role = api && worker ? 'up' : api ? 'api' : 'worker'
  stack.defer(startTracing({ url, headers: parseHeaders(otlpHeaders), percent, role, log }))
}

/** `name=value` separated by commas, as OpenTelemetry writes them. */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  if (!pairs.every((pair) => pair.includes('='))) throw new Error('BERTH_OTLP_HEADERS must be name=value, separated by commas')
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]))
}

async function listen(app: Compose.ApiProcess['app'], { host, port }: Config, findHolder: typeof findPortHolder): Promise<string> {
  const { level } = app.log
  app.log.level = 'warn' // silences Fastify's own "Server listening" line
  await app.listen({ host, port }).catch(async (error: NodeJS.ErrnoException) => {
    throw new Error(await explainListen(error, host, port, findHolder), { cause: error })
  })
  app.log.level = level
  const { address, family, port: actual } = app.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`
}

async function explainListen(error: NodeJS.ErrnoException, host: string, port: number, findHolder: typeof findPortHolder): Promise<string> {
  if (error.code === 'EACCES') return `Port ${port} needs root: set BERTH_PORT to one above 1023`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `This machine does not have the address ${host}: set BERTH_HOST to one of its addresses`
  if (error.code !== 'EADDRINUSE') return `Cannot listen on ${host} port ${port}: ${error.message}`
  const holder = await findHolder(port)
  const who = holder ? `${holder.name} (pid ${holder.pid})` : 'another program'
  return `Port ${port} is in use by ${who}. Stop it, or set BERTH_PORT to another port`
}

/** Metrics are optional: a port in use is only logged. */
async function openMetrics({ deps }: Compose.Core, config: Config, log: Log, stack: AsyncDisposableStack): Promise<string | null> {
  const { metricsHost, metricsPort } = config
  try {
    const { serveMetrics } = await import('../../kernel/metrics.ts') // on demand: `up` as root serves none
    const server = stack.adopt(await serveMetrics(deps.metrics, metricsHost, metricsPort), (each) => each.close())
    return `http://${metricsHost}:${server.port}/metrics`
  } catch (error) {
    log.warn(
      { err: error, port: metricsPort },
      'starting metrics server failed; continuing without metrics. Set BERTH_METRICS_PORT to a free port',
    )
    return null
  }
}
