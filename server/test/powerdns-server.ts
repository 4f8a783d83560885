// A PowerDNS authoritative server of its own, with its HTTP API, for tests of reverse names.
import { spawn, type ChildProcess } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { freePort } from './free-port.ts'
import { eventually } from './processes.ts'

const PROGRAM = '/usr/sbin/pdns_server'
const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'
const KEY = 'the key of the test'

export const missingForPowerDns = (): string | undefined =>
  existsSync(PROGRAM) && existsSync(SCHEMA) ? undefined : 'pdns-server and pdns-backend-sqlite3 are not installed'

export interface PowerDnsServer {
  url: string
  key: string
  addZone(name: string): Promise<void>
  /** The names of the address, by a query. */
  lookUp(address: string): Promise<string[]>
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export async function openPowerDns(): Promise<PowerDnsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-pdns-'))
  const [dnsPort, apiPort] = [await freePort(), await freePort()]
  const database = new DatabaseSync(join(folder, 'pdns.sqlite3'))
  database.exec(readFileSync(SCHEMA, 'utf8'))
  database.close()
  const settings = {
    launch: 'gsqlite3',
    'gsqlite3-database': join(folder, 'pdns.sqlite3'),
    'local-address': '127.0.0.1',
    'local-port': dnsPort,
    'socket-dir': folder,
    api: 'yes',
    'api-key': KEY,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': apiPort,
    'cache-ttl': 0,
    'query-cache-ttl': 0,
    'negquery-cache-ttl': 0,
    'zone-cache-refresh-interval': 0,
    guardian: 'no',
    daemon: 'no',
    'config-dir': folder,
  }
  const url = `http://127.0.0.1:${apiPort}`
  const zones = `${url}/api/v1/servers/localhost/zones`
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' }
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    child = spawn(
      PROGRAM,
      Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
      { stdio: 'ignore' },
    )
    await eventually(() =>
      fetch(zones, { headers })
        .then(({ ok }) => ok)
        .catch(() => false),
    )
  }
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => child?.once('exit', resolve) ?? resolve(undefined))
    child?.kill('SIGKILL')
    await ended
  }
  await start()
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers([`127.0.0.1:${dnsPort}`])
  return {
    url,
    key: KEY,
    addZone: async (name) => {
      const body = JSON.stringify({ name, kind: 'Native', nameservers: ['ns1.example.com.'] })
      const { ok, status } = await fetch(zones, { method: 'POST', headers, body })
      if (!ok) throw new Error(`PowerDNS answered ${status}`)
    },
    lookUp: (address) => resolver.reverse(address).catch(() => []),
    start,
    stop,
    close: async () => {
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}
