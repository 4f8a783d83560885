// Hosts that are lost, with VMs whose disks are in a storage backend: the passes of those who look after them.
import { testApp, type TestApp } from './harness.ts'
import { controlOf, givenHost, placeOn } from './hosts.ts'
import { sellReplicated } from './replicated-storage.ts'
import { allowManyVms } from './snapshot-backup-fixture.ts'
import { sql } from '../src/kernel/database/db.ts'
import { changeRecovery } from '../src/features/catalog/service.ts'
import { heartbeat } from '../src/features/hosts/heartbeat.reconciler.ts'
import { getHost, type HostRow } from '../src/features/hosts/service.ts'
import { watchSilence } from '../src/features/hosts/silence.reconciler.ts'
import { followLostHosts } from '../src/features/recovery/lost-hosts.reconciler.ts'
import { findFence } from '../src/features/recovery/service.ts'

/** As long as a host is silent until it counts as lost, by default. */
export const SILENCE = '61s'

export async function givenLostHosts({ isAutomatic = true } = {}) {
  const app = await testApp()
  await allowManyVms(app)
  await sellReplicated(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  await app.db.tx((tx) => changeRecovery(tx, 'fra1', { autoRecovery: isAutomatic }))
  const customer = await app.given.customer({ credit: '10000.00' })
  let count = 0
  return {
    app,
    customer,
    hostToLose: () => givenHost(app, `rack${++count}`),
    vmOn: (host: HostRow, input: Record<string, unknown> = {}) => placeOn(app, host.id, () => app.given.vm(customer, input)),
    vmOf: async (id: string) => (await customer.get(`/vms/${id}`)).body.data,
    storageId: (await app.db.one<{ id: string }>(sql`select id from storage_backends`)).id,
  }
}

export const look = async ({ deps }: Pick<TestApp, 'deps'>): Promise<void> => {
  await heartbeat.runOnce(deps)
  await watchSilence.runOnce(deps)
  await followLostHosts.runOnce(deps)
}

/** Until nothing changes any more. */
export async function follow(app: TestApp): Promise<void> {
  for (let pass = 0; pass < 6; pass++) {
    await look(app)
    await app.settle()
    app.clock.advance('11s')
  }
}

/** All others are in maintenance. */
export const leaveOpen = (app: TestApp, ...hosts: HostRow[]) =>
  app.db.run(sql`update hosts set maintenance = id <> all(${hosts.map(({ id }) => id)}::text[])`)

/** What it had goes to the first host. */
export async function lose(app: TestApp, host: HostRow): Promise<void> {
  await leaveOpen(app, app.host, host)
  await look(app)
  await controlOf(app, host.id).faults.loseHost()
  await look(app)
  app.clock.advance(SILENCE)
}

export const placeOf = (app: TestApp, vmId: string) =>
  app.db.one<{ host_id: string | null; address: string | null; mac: string | null; networks: string[] }>(sql`
    select host_id, host(ip_address) as address, mac::text,
      array(select concat_ws(' ', network_id, mac, address) from network_attachments where vm_id = v.id) as networks
    from vms v where id = ${vmId}`)

export const powerOn = async (app: TestApp, hostId: string, vmId: string): Promise<string | undefined> =>
  (await app.db.maybe<{ power: string }>(sql`select power from simulated.machines where host_id = ${hostId} and vm_id = ${vmId}`))?.power

export const stateOf = async (app: TestApp, { id }: HostRow) => {
  const { fenced_at, maintenance } = await getHost(app.db, id)
  return { isFenced: fenced_at !== null, maintenance, fence: await findFence(app.db, id) }
}
