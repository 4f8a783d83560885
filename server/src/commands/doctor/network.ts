import { createServer } from 'node:net'
import { findPortHolder } from '../port-owner.ts'
import { failure, ok, warning, type Check, type Finding } from './check.ts'

export const port: Check = async ({ host, port: number }) => {
  if (number === 0) return ok('port: any free one')
  if (await isFree(host, number)) return ok(`port ${number} is free`)
  if (await answers(host, number)) return ok(`Berth is listening on port ${number}`)
  const holder = await findPortHolder(number)
  return failure(
    `port ${number} is in use by ${holder ? `${holder.name} (pid ${holder.pid})` : 'another program, or this machine has no address ' + host}`,
    'stop it, or set BERTH_PORT to another port',
  )
}

const isFree = (host: string, number: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(number, host, () => server.close(() => resolve(true)))
  })

async function answers(host: string, number: number): Promise<boolean> {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const name = reachable.includes(':') ? `[${reachable}]` : reachable
  // A process that is emulated, or on a busy machine, takes seconds.
  const response = await fetch(`http://${name}:${number}/readyz`, { signal: AbortSignal.timeout(15_000) }).catch(() => null)
  const body: unknown = await response?.json().catch(() => null)
  return typeof body === 'object' && body !== null && 'checks' in body
}

export const redis: Check = async ({ redisUrl }) => {
  if (!redisUrl) return ok('no Redis: rate limits are counted in memory under `up`, otherwise in PostgreSQL')
  const { createClient } = await import('redis')
  const client = createClient({ url: redisUrl, socket: { connectTimeout: 1_000, reconnectStrategy: false } })
  client.on('error', () => {}) // connect() rejects too
  try {
    await client.connect()
    await client.ping()
    return ok('Redis is reachable')
  } catch (error) {
    const message = `Redis is unreachable (${(error as Error).message}): each process counts rate limits alone`
    return warning(message, 'start it, or check BERTH_REDIS_URL')
  } finally {
    client.destroy()
  }
}

export const reverseDns: Check = async ({ pdnsUrl, pdnsKey }) => {
  if (!pdnsUrl) return ok('no PowerDNS: customers cannot name their addresses')
  const problem = (message: string, fix: string): Finding => warning(`${message}: reverse names wait for it`, fix)
  try {
    const { ok: isOk, status } = await fetch(`${pdnsUrl.replace(/\/+$/, '')}/api/v1/servers/localhost`, {
      headers: { 'x-api-key': pdnsKey ?? '' },
      signal: AbortSignal.timeout(2_000),
    })
    if (isOk) return ok('PowerDNS is reachable and accepts the key')
    return status === 401
      ? problem('PowerDNS refuses the key', 'set BERTH_PDNS_KEY to the api-key of pdns.conf')
      : problem(`PowerDNS has no API at BERTH_PDNS_URL (it answered ${status})`, 'check BERTH_PDNS_URL, and api=yes in pdns.conf')
  } catch (error) {
    const { message } = ((error as Error).cause ?? error) as Error
    return problem(`PowerDNS is unreachable (${message})`, 'start it, or check BERTH_PDNS_URL')
  }
}
