// Interfaces of machines.
import { sql } from '../../kernel/database/db.ts'
import { DriverError, type Interfaces } from '../driver.ts'
import { addNic, findRow, lockRow, requireMachine, requireOn } from './definition.ts'
import type { SimulatedHost } from './host.ts'
import { agentConnected } from './power.ts'

export function interfaceMethods(host: SimulatedHost): Interfaces {
  const { hostId, db, clock, call, pace } = host
  const nicOf = (vmId: string, mac: string) => sql`host_id = ${hostId} and machine = ${vmId} and mac = ${mac}`
  const requireAgent = async (vmId: string): Promise<void> => {
    const row = requireOn(await findRow(db, hostId, vmId), hostId, vmId)
    if (!row.has_agent) throw new DriverError('unsupported', `Machine ${vmId} has no agent`)
    if (!agentConnected(host, row)) throw new DriverError('transient', `The agent of ${vmId} does not answer`)
  }
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

    ensureGuestAddress: (vmId, { mac, address }, signal) =>
      call('ensureGuestAddress', signal, async (pause) => {
        await requireAgent(vmId)
        await pause(pace.delays.agentMs)
        await db.run(sql`update simulated.nics set floating = array_append(floating, ${address}::text)
          where ${nicOf(vmId, mac)} and ${address}::text <> all(floating)`)
      }),

    ensureNoGuestAddress: (vmId, { mac, address }, signal) =>
      call('ensureNoGuestAddress', signal, async (pause) => {
        await requireAgent(vmId)
        await pause(pace.delays.agentMs)
        await db.run(sql`update simulated.nics set floating = array_remove(floating, ${address}::text) where ${nicOf(vmId, mac)}`)
      }),

    ensureGuestRoutes: (vmId, routes, signal) =>
      call('ensureGuestRoutes', signal, async (pause) => {
        await requireAgent(vmId)
        await pause(pace.delays.agentMs)
        const told = routes.flatMap(({ gateway, ranges }) => ranges.map((range) => `${range} via ${gateway}`))
        await db.run(sql`update simulated.machines set routes = ${told}::text[] where host_id = ${hostId} and name = ${vmId}`)
      }),
  }
}
