// Grows machines that run, within the room that they were started with.
import { sql } from '../../kernel/database/db.ts'
import { DriverError, type ComputeSize, type Machines } from '../driver.ts'
import { RAM_SLOTS } from '../room.ts'
import { lockRow, setCpus, type MachineRow } from './definition.ts'
import type { SimulatedHost } from './host.ts'
import { agentConnected } from './power.ts'

export function liveSizeMethods(host: SimulatedHost): Pick<Machines, 'ensureLiveSize'> {
  const { hostId, db, call, pace } = host
  return {
    ensureLiveSize: (spec, signal) =>
      call('ensureLiveSize', signal, async (pause) => {
        const wanted = { vcpu: spec.vcpu, ramMiB: spec.ramMiB }
        // Memory first, as on a real host: a crash in between leaves it without the vCPUs.
        const resize = (to: Partial<ComputeSize>) =>
          db.tx(async (tx) => {
            const row = await lockRow(tx, hostId, spec.vmId)
            if (!row || row.power === 'stopped') return { ...wanted, guestReason: null }
            const has = { vcpu: row.vcpu, ramMiB: row.ram_mib }
            const room = roomOf(row)
            if (wanted.vcpu > room.vcpu || wanted.ramMiB > room.ramMiB)
              throw new DriverError('invalid_state', `Machine ${spec.vmId} has room for ${room.vcpu} vCPU and ${room.ramMiB} MiB`, {
                userMessage: 'The VM cannot grow as much while it runs: stop it, and resize it then.',
              })
            const isUsed = agentConnected(host, row)
            const isSmaller = wanted.vcpu < has.vcpu || wanted.ramMiB < has.ramMiB
            // A guest that hangs releases nothing.
            if (isSmaller && !isUsed) return { ...has, guestReason: null }
            const size = { ...has, ...to }
            const dimms = Math.max(0, row.dimms + Math.sign(size.ramMiB - has.ramMiB))
            await tx.run(sql`update simulated.machines set vcpu = ${size.vcpu}, ram_mib = ${size.ramMiB}, dimms = ${dimms}
              where host_id = ${hostId} and name = ${spec.vmId}`)
            await setCpus(tx, hostId, spec.vmId, spec.cpus)
            return { ...size, guestReason: isSmaller || isUsed ? null : 'its guest agent does not answer' }
          })
        await resize({ ramMiB: wanted.ramMiB })
        await pause(pace.delays.agentMs)
        return resize(wanted)
      }),
  }
}

/** Of one that was started by an older release: none. */
export const roomOf = (row: MachineRow): ComputeSize => ({
  vcpu: row.room_vcpu ?? row.vcpu,
  ramMiB: row.dimms < RAM_SLOTS ? (row.room_ram_mib ?? row.ram_mib) : row.ram_mib,
})
