// What guests say of their initialization, password resets, and purging of VMs.
import { json, sql, type Sql } from '../../kernel/database/db.ts'
import { DriverError, type Machines } from '../driver.ts'
import type { Pause, SimulatedHost } from './host.ts'
import { agentConnected, stop } from './power.ts'
import { findRow, lockRow, requireOn } from './definition.ts'
import { diskName, findVolume, leaveInStorage, removeVolumes } from './volumes.ts'

export function guestMethods(
  host: SimulatedHost,
): Pick<Machines, 'readInitialization' | 'ensurePassword' | 'ensurePurged' | 'ensurePurgedKeepBackups'> {
  const { hostId, db, call, pace } = host
  // Two transactions, as on a real host: a crash between them leaves volumes without a machine, never the reverse.
  const remove = async (vmId: string, volumes: Sql, pause: Pause, isKept = false): Promise<void> => {
    await db.tx(async (tx) => {
      await lockRow(tx, hostId, vmId)
      await stop(tx, hostId, vmId, 'user')
      await tx.run(sql`delete from simulated.machines where host_id = ${hostId} and name = ${vmId}`)
    })
    await pause(pace.delays.destroyMs)
    await db.tx(async (tx) => {
      if (isKept) await leaveInStorage(tx, hostId, vmId)
      await removeVolumes(tx, hostId, volumes)
    })
  }
  return {
    readInitialization: (vmId, signal) =>
      call('readInitialization', signal, async (pause) => {
        const row = requireOn(await findRow(db, hostId, vmId), hostId, vmId)
        if (!row.has_agent) throw new DriverError('unsupported', `The image of ${vmId} has no agent`)
        if (!agentConnected(host, row)) throw new DriverError('transient', `The agent of ${vmId} does not answer`)
        await pause(pace.delays.agentMs)
        const disk = await findVolume(db, hostId, diskName(vmId, row.generation ?? 0))
        return disk?.content.initialization ?? { state: 'none', seconds: null, errors: [], output: '' }
      }),

    ensurePassword: (vmId, { user, passwordHash }, signal) =>
      call('ensurePassword', signal, async (pause) => {
        const row = requireOn(await findRow(db, hostId, vmId), hostId, vmId)
        if (!row.has_agent)
          throw new DriverError('unsupported', `Machine ${vmId} has no agent`, {
            userMessage: 'The image of this VM has no guest agent, which is needed to set a password.',
          })
        if (!agentConnected(host, row))
          throw new DriverError('transient', `The agent of ${vmId} does not answer`, {
            userMessage: 'The guest agent does not respond yet. Try again when the VM has booted.',
          })
        await pause(pace.delays.agentMs)
        await db.run(sql`update simulated.volumes set content = content || ${json({ user, passwordHash })}
          where host_id = ${hostId} and name = ${diskName(vmId, row.generation ?? 0)}`)
      }),

    ensurePurged: (vmId, signal) => call('ensurePurged', signal, (pause) => remove(vmId, sql`vm_id = ${vmId}`, pause)),

    ensurePurgedKeepBackups: (vmId, signal) =>
      call('ensurePurgedKeepBackups', signal, (pause) => remove(vmId, sql`vm_id = ${vmId} and kind <> 'backup'`, pause, true)),
  }
}
