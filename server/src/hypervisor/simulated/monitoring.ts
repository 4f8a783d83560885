// Monitoring of machines and of the host.
import { sha256Hex } from '../../kernel/crypto.ts'
import { sql } from '../../kernel/database/db.ts'
import { GIB, DriverError, type HostFacts, type Monitoring } from '../driver.ts'
import { SerialConsole } from './console.ts'
import type { EventHub } from './events.ts'
import type { SimulatedHost } from './host.ts'
import { drawScreen } from './screenshot.ts'
import { findRow, requireOn } from './definition.ts'
import { diskName, findVolume } from './volumes.ts'

export interface HostSize {
  vcpu: number
  ramMiB: number
  diskGiB: number
}

/** Of the machine that a simulated host would be. */
export const uuidOf = (hostId: string): string => sha256Hex(hostId).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

type MonitoringMethods = Pick<Monitoring, 'subscribe' | 'openConsole' | 'screenshot' | 'facts' | 'health'>

export function monitoringMethods(host: SimulatedHost, hub: EventHub, size: HostSize): MonitoringMethods {
  const { hostId, db, call } = host
  const machineOn = async (vmId: string) => requireOn(await findRow(db, hostId, vmId), hostId, vmId)
  const disk = (): Promise<{ free: bigint; is_full: boolean }> =>
    db.one(sql`select disk_total_bytes - disk_used_bytes as free, is_full from simulated.hosts where host_id = ${hostId}`)

  return {
    subscribe: (listener, signal) => call('subscribe', signal, () => hub.subscribe({ hostId, listener })),

    openConsole: (vmId, type, signal) =>
      call('openConsole', signal, async () => {
        if (type === 'vnc')
          throw new DriverError('unsupported', 'Simulated machines have no VNC', {
            userMessage: 'VNC is not available for this VM. Use the serial console.',
          })
        const row = await machineOn(vmId)
        const hostname = (await findVolume(db, hostId, diskName(vmId, row.generation ?? 0)))?.content.hostname ?? 'localhost'
        const serial = new SerialConsole(row, hostname)
        const over = (): void => void serial.end()
        const stop = await hub.subscribe({ hostId, listener: (event) => event.type === 'stopped' && event.vmId === vmId && over(), over })
        serial.once('close', () => void stop())
        return serial
      }),

    screenshot: (vmId, signal) => call('screenshot', signal, async () => drawScreen((await machineOn(vmId)).name)),

    facts: (signal) =>
      call('facts', signal, async (): Promise<HostFacts> => ({
        hostname: hostId,
        uuid: uuidOf(hostId),
        ...size,
        cpuNodes: null,
        cpuModel: 'Simulated CPU',
        arch: 'x86_64',
        guestTypes: ['x86_64', 'x86_64:uefi', 'x86_64:secure-boot', 'x86_64:tpm', 'aarch64', 'aarch64:uefi'],
        diskFreeGiB: Math.max(0, Math.floor(Number((await disk()).free) / GIB)),
        acceleration: 'emulation',
        versions: { simulated: '1' },
        consoles: ['serial'],
        uplinkMbps: 10_000,
      })),

    health: (signal) =>
      call('health', signal, async () => {
        const { free, is_full } = await disk()
        const isTight = is_full || Number(free) < (size.diskGiB * GIB) / 20
        return { problems: isTight ? ['Less than 5 % of the disk is free. Remove backups or add a disk'] : [] }
      }),
  }
}
