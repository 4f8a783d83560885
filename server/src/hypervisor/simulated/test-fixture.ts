// Simulated hosts in a database of their own, for the tests of this folder.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, inject } from 'vitest'
import { manualClock } from '../../kernel/clock.ts'
import { openDb, type Db } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import type { Driver, MachineSpec } from '../driver.ts'
import { simulatedControl } from './control.ts'
import { simulatedDrivers, type SimulatedOptions } from './driver.ts'
import { instantPace } from './latency.ts'
import { simulatedNetworkControllers } from './network-controller.ts'

const MIGRATIONS = new URL('../../../migrations/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, MIGRATIONS), 'utf8')
const FIRST = '0011_simulated.sql'
/** What later migrations change of it. */
const later = readdirSync(MIGRATIONS)
  .filter((name) => name > FIRST)
  .toSorted()
  .flatMap((name) => read(name).match(/^(alter|create|drop) [^;]*\bsimulated\.[^;]*;/gm) ?? [])
const SCHEMA = `create extension btree_gist; ${read(FIRST)}; ${later.join('\n')}`

async function runStatement(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/** Dropped when the test file ends. */
export async function simulatedDatabase(maxConnections = 8): Promise<Db> {
  const name = `simulated_${newId()}`
  await runStatement(inject('postgresUrl'), `create database ${name}`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  const db = openDb({ url: url.toString(), maxConnections, onError: () => undefined })
  await db.raw(SCHEMA)
  afterAll(async () => {
    await db.close()
    // Only a superuser may end the autovacuum worker that may be at work in the database.
    await runStatement(inject('postgresSuperuserUrl'), `drop database ${name} with (force)`)
  })
  return db
}

export type Fixture = Awaited<ReturnType<typeof simulatedFixture>>

export async function simulatedFixture(options: Partial<SimulatedOptions> = {}) {
  const db = options.db ?? (await simulatedDatabase())
  const clock = manualClock()
  const hostId = newId()
  /** Each call is another process: nothing is shared but the database. */
  const open = (changes: Partial<SimulatedOptions> = {}, size = ''): Driver =>
    simulatedDrivers({ db, clock, pace: instantPace, ...options, ...changes })({
      id: hostId,
      driver: 'simulated',
      uri: `simulated:///${size}`,
    })
  const networks = simulatedNetworkControllers({ db, clock, pace: instantPace })(newId())
  return { db, clock, hostId, open, networks, ...simulatedControl(db, clock, hostId) }
}

let machines = 0

export function someSpec(changes: Partial<MachineSpec> = {}): MachineSpec {
  const number = ++machines
  const mac = `52:54:00:00:${hex(number >> 8)}:${hex(number & 255)}`
  return {
    vmId: newId(),
    uuid: randomUUID(),
    accountId: newId(),
    generation: 1,
    vcpu: 1,
    ramMiB: 1024,
    cpus: null,
    diskLimits: { iops: null, miBPerSecond: null },
    diskGiB: 10,
    storageId: null,
    template: { id: 'debian', slug: 'debian-12', checksum: 'none', arch: 'x86_64', hasAgent: true },
    seed: { hostname: 'guest', user: 'root', sshKeys: ['ssh-ed25519 AAAA'], passwordHash: '$6$berth$first' },
    nics: [
      {
        mac,
        kind: 'public',
        networkId: null,
        ipv4: { address: `10.77.${number >> 8}.${number & 255}`, prefix: 16, gateway: '10.77.0.1' },
        ipv6: null,
        dns: ['10.77.0.1'],
      },
    ],
    volumes: [],
    ...changes,
  }
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0')
