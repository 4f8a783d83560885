import { sql, type Db } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { formatNumberRanges } from '../../kernel/number-ranges.ts'
import { describeDriver } from '../conformance.ts'
import { expectKind, type DriverFixture } from '../conformance/fixture.ts'
import { describeMigration, type MigrationFixture } from '../conformance/migration.ts'
import { simulatedDatabase, simulatedFixture, someSpec } from './test-fixture.ts'

const MARKER = 'marker'

const fixtureWith = (storageId: string | null, database?: Db) => async (): Promise<DriverFixture> => {
  const { db, open, networks, hostId, drift, faults } = await simulatedFixture(database && { db: database })
  const [driver, other] = [open(), open()]
  return {
    driver,
    other,
    networks,
    host: hostId,
    spec: (changes) => someSpec({ storageId, ...changes }),
    agentless: () => someSpec({ storageId, template: { id: 'plain', slug: 'plain', checksum: 'none', arch: 'x86_64', hasAgent: false } }),
    volume: () => ({ volumeId: newId(), generation: 0, sizeGiB: 1, storageId }),
    iso: async () => ({ imageId: newId(), checksum: `sha256:${'0'.repeat(64)}`, sizeBytes: 2 ** 20 }),
    nicIn: ({ networkId, cidr, gateway }) => ({
      ...someSpec().nics[0]!,
      kind: 'private',
      networkId,
      ipv4: { address: cidr.replace('.0/24', '.10'), prefix: 24, gateway },
    }),
    guest: {
      write: (vmId, text) => drift.writeFile(vmId, MARKER, text),
      read: (vmId) => drift.readFile(vmId, MARKER),
      readOwnDisk: (vmId) => drift.readOwnFile(vmId, MARKER),
      passwordHash: async (vmId) => (await drift.login(vmId)).passwordHash,
      hasAddress: async (vmId, address) =>
        (await db.maybe(sql`select from simulated.nics where machine = ${vmId} and ${address}::text = any(floating)`)) !== undefined,
      routes: async (vmId) => (await db.one<{ routes: string[] }>(sql`select routes from simulated.machines where name = ${vmId}`)).routes,
      size: async (vmId) => (await driver.findMachine(vmId, AbortSignal.timeout(10_000)))!,
      bootId: async (vmId) => {
        const { booted_at, epoch } = await db.one<{ booted_at: Date; epoch: bigint }>(
          sql`select booted_at, epoch from simulated.machines where name = ${vmId}`,
        )
        return `${booted_at.getTime()} ${epoch}`
      },
      affinity: async (vmId) => formatNumberRanges((await driver.findMachine(vmId, AbortSignal.timeout(10_000)))?.cpus?.cpus ?? []),
      writeVolume: (vmId, volumeId, text) => drift.writeVolume(vmId, volumeId, text),
      readVolume: async (vmId, volumeId) => (await drift.readVolume(vmId, volumeId))?.text ?? '',
      volumeBytes: async (vmId, volumeId) => (await drift.readVolume(vmId, volumeId))?.bytes ?? null,
      powerOff: (vmId) => drift.stopMachine(vmId, 'guest'),
      crash: (vmId) => drift.stopMachine(vmId, 'crash'),
      send: (vmId, mac, bytes) => drift.addTraffic(vmId, mac, { received: 0, sent: bytes }),
    },
    giveUpStop: async (vmId) => {
      await faults.plant({ verb: 'ensureStopped', kind: 'halfway' })
      await expectKind(driver.ensureStopped(vmId, { graceMs: 1_000 }, AbortSignal.timeout(10_000)), 'transient')
    },
    losePower: () => faults.cutPower(),
    patienceMs: 10_000,
    close: async () => void (await Promise.all([driver.close(), other.close()])),
  }
}

/** Two hosts of one database. */
const twoHosts = (storageId: string | null) => async (): Promise<MigrationFixture> => {
  const db = await simulatedDatabase()
  const [here, there] = [await fixtureWith(storageId, db)(), await fixtureWith(storageId, db)()]
  const close = async (): Promise<void> => void (await Promise.all([here.close(), there.close()]))
  return { here, there, uris: { here: 'simulated:///', there: 'simulated:///' }, close }
}

describeMigration('simulated', twoHosts(null))
describeMigration('simulated, with disks in a storage backend,', twoHosts('ceph'))
describeDriver('simulated', fixtureWith(null))
describeDriver('simulated, with disks in a storage backend', fixtureWith('ceph'), { storage: 'backend' })
