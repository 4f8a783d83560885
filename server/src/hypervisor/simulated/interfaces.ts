// Interfaces of machines.
import { sql } from '../../kernel/database/db.ts'
import type { Interfaces } from '../driver.ts'
import { addNic, lockRow, requireMachine } from './definition.ts'
import type { SimulatedHost } from './host.ts'

export function interfaceMethods(host: SimulatedHost): Interfaces {
  const { hostId, db, clock, call, pace } = host
  const nicOf = (vmId: string, mac: string) => sql`host_id = ${hostId} and machine = ${vmId} and mac = ${mac}`
  return {
    ensureInterface: (vmId, nic, signal) =>
      call('ensureInterface', signal, async (pause) => {
        await pause(pace.delays.attachMs)
        await db.tx(async (tx) => {
          const { power } = requireMachine(await lockRow(tx, hostId, vmId), hostId, vmId)
          if (await tx.maybe(sql`select from simulated.nics where ${nicOf(vmId, nic.mac)}`)) return
          await addNic(tx, host, vmId, nic)
          const countedAt = power === 'running' ? clock.now() : null
          await tx.run(
            sql`update simulated.nics set epoch = nextval('simulated.epochs'), counted_at = ${countedAt} where ${nicOf(vmId, nic.mac)}`,
          )
        })
      }),

    ensureNoInterface: (vmId, mac, signal) =>
      call('ensureNoInterface', signal, async (pause) => {
        await pause(pace.delays.detachMs)
        await db.run(sql`delete from simulated.nics where ${nicOf(vmId, mac)}`)
      }),
  }
}
