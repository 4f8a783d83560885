// Fixture of the driver contract with real guests: a sandboxed host, two drivers, and the smallest guest; its disks on the host or in Ceph.
import { createHash, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { eventually } from '../../libvirt/test/eventually.ts'
import { libvirtDrivers } from '../src/hypervisor/libvirt/driver.ts'
import { collect, expectKind, type DriverFixture } from '../src/hypervisor/conformance/fixture.ts'
import {
  OWN_DISK_SERIAL,
  volumeSerial,
  type IsoRef,
  type MachineSpec,
  type NicSpec,
  type TemplateRef,
  type VolumeSpec,
} from '../src/hypervisor/driver.ts'
import { directAccess, type LocalAccess } from '../src/hypervisor/local-access.ts'
import { isoImage } from '../src/hypervisor/libvirt/storage/iso9660.ts'
import type { StorageSource } from '../src/hypervisor/storage-source.ts'
import { openOvn } from '../src/hypervisor/ovn/controller.ts'
import { newId } from '../src/kernel/ids.ts'
import { openRbdPool } from '../src/hypervisor/rbd/pool.ts'
import { startCeph, type CephCluster } from './ceph.ts'
import { GuestShell } from './guest-shell.ts'
import { losePower, openLibvirtHost, returnPower, type LibvirtHost } from './libvirt-host.ts'
import { tinyImage } from './tiny-image.ts'

/** The device whose serial is $0; the tiny guest has no links below /dev/disk. */
const LOOK = `for each in /sys/block/vd*; do [ "$(cat $each/serial)" = "$0" ] && found=/dev/\${each##*/}; done`
/** A guest sees a disk some moments after it was attached. */
const AWAIT_VOLUME = `found=; until ${LOOK}; [ -n "$found" ]; do sleep 1; done`
const FIND_VOLUME = `found=; ${LOOK}; [ -n "$found" ] || exit 9`

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 150_000

export interface CephDriverFixture extends DriverFixture {
  cluster: CephCluster
  pool: string
  /** Runs a script in a guest. */
  run: GuestShell['run']
}

/** Disks in a pool of a cluster that this machine shares with its sandboxes. */
export async function cephDriverFixture(osds = 1): Promise<CephDriverFixture> {
  const host = await openLibvirtHost()
  const cluster = await startCeph({ address: host.sandbox.address.replace(/\d+$/, '1'), osds })
  const backend = await cluster.addPool()
  const pool = openRbdPool(backend, join(host.sandbox.folder, 'ceph'))
  const fixture = await driverFixture(host, { storage: { poolsOf: () => Promise.resolve([pool]) }, storageId: backend.id })
  const shell = new GuestShell(host.sandboxes.unix(host.sandbox), TIMEOUT_MS)
  const close = async (): Promise<void> => {
    await shell.close()
    await fixture.close()
    await cluster.close()
  }
  return { ...fixture, cluster, pool: backend.pool, run: shell.run.bind(shell), close }
}

export const libvirtDriverFixture = async (): Promise<DriverFixture> => driverFixture(await openLibvirtHost())

/** Two hosts may need the same. */
const isoFile = (imageId: string): string => join(tmpdir(), `berth-iso-${imageId}`)

/** `access`: with certificates, where the host is a remote one. */
export async function driverFixture(
  host: LibvirtHost,
  { storage, storageId = null, access = directAccess() }: { storage?: StorageSource; storageId?: string | null; access?: LocalAccess } = {},
): Promise<DriverFixture> {
  const image = await tinyImage()
  const log = pino({ level: 'silent' })
  const networks = openOvn(host.networkController, { log, access })
  await networks.ensurePublicNetwork({ ranges: ['10.77.0.0/16'], allowed: [] }, AbortSignal.timeout(TIMEOUT_MS))
  const isos = { openIso: async ({ imageId }: IsoRef) => ({ path: isoFile(imageId) }) }
  const open = libvirtDrivers({ log, images: { open: () => Promise.resolve(image) }, isos, storage, access })
  const ref = { id: newId(), driver: 'libvirt', uri: host.uri } as const
  const [driver, other] = [open(ref), open(ref)]
  const shell = new GuestShell(host.sandboxes.unix(host.sandbox), TIMEOUT_MS)
  const specs = specMaker(host.gateway)
  const template: TemplateRef = { id: 'tiny', slug: 'tiny', checksum: image.checksum, arch: image.arch, hasAgent: true }
  const made: string[] = []
  const spec = (changes: Partial<MachineSpec> = {}): MachineSpec => {
    const fresh = specs(template, { storageId, ...changes })
    made.push(fresh.vmId)
    return fresh
  }
  let nics = 0
  const volumes: VolumeSpec[] = []
  const imageIds: string[] = []
  return {
    driver,
    other,
    networks,
    host: host.name,
    spec,
    agentless: () => spec({ template: { ...template, id: 'plain', slug: 'plain', hasAgent: false } }),
    volume: () => {
      const volume = { volumeId: newId(), generation: 0, sizeGiB: 1, storageId }
      volumes.push(volume)
      return volume
    },
    iso: async () => {
      const imageId = newId()
      imageIds.push(imageId)
      const bytes = isoImage('data', { hello: imageId })
      await writeFile(isoFile(imageId), bytes)
      return { imageId, checksum: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, sizeBytes: bytes.length }
    },
    nicIn: ({ networkId, cidr }) => privateNic(networkId, ++nics, cidr.replace('.0/24', '.10')),
    guest: {
      write: async (vmId, text) => void (await shell.run(vmId, 'printf %s "$0" > /root/marker && sync', text)),
      read: async (vmId) => {
        const { exitCode, output } = await shell.run(vmId, 'cat /root/marker')
        return exitCode === 0 ? output : null
      },
      readOwnDisk: async (vmId) => {
        const read = `${FIND_VOLUME}; mount -t ext4 "$found"2 /mnt && { cat /mnt/root/marker; found=$?; umount /mnt; exit $found; }`
        const { exitCode, output } = await shell.run(vmId, read, OWN_DISK_SERIAL)
        return exitCode === 0 ? output : null
      },
      passwordHash: async (vmId) => (await shell.run(vmId, 'awk -F: \'$1 == "root" { printf "%s", $2 }\' /etc/shadow')).output,
      hasAddress: async (vmId, address) => (await shell.run(vmId, 'ip addr | grep -F " $0/"', address)).exitCode === 0,
      routes: async (vmId) => {
        const { output } = await shell.run(
          vmId,
          `ip route | awk '$2 == "via" && $1 != "default" { print ($1 ~ "/" ? $1 : $1 "/32") " via " $3 }'`,
        )
        return output.split('\n').filter((line) => line !== '')
      },
      size: async (vmId) => {
        const { output } = await shell.run(vmId, `nproc; awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo`)
        const [vcpu, ramMiB] = output.trim().split('\n').map(Number)
        return { vcpu: vcpu!, ramMiB: ramMiB! }
      },
      bootId: async (vmId) => (await shell.run(vmId, 'cat /proc/sys/kernel/random/boot_id')).output.trim(),
      affinity: async (vmId) => {
        const tasks = `/proc/$(cat /run/libvirt/qemu/berth-${vmId}.pid)/task/*`
        const ofVcpus = `for task in ${tasks}; do grep -q '^CPU ' $task/comm && sed -n 's/^Cpus_allowed_list:\\s*//p' $task/status; done | sort -u`
        return (await host.sandbox.inside('sh', '-c', ofVcpus)).trim().replaceAll('\n', ' ')
      },
      writeVolume: async (vmId, volumeId, text) =>
        void (await shell.run(
          vmId,
          `${AWAIT_VOLUME}; printf '%-512s' "$1" | dd of="$found" conv=fsync 2> /dev/null`,
          volumeSerial(volumeId),
          text,
        )),
      readVolume: async (vmId, volumeId) => {
        const read = `${AWAIT_VOLUME}; dd if="$found" bs=512 count=1 2> /dev/null | tr -d '\\000'`
        return (await shell.run(vmId, read, volumeSerial(volumeId))).output.trimEnd()
      },
      volumeBytes: async (vmId, volumeId) => {
        const { exitCode, output } = await shell.run(vmId, `${FIND_VOLUME}; blockdev --getsize64 "$found"`, volumeSerial(volumeId))
        return exitCode === 0 ? Number(output) : null
      },
      powerOff: (vmId) => shell.order(vmId, 'poweroff'),
      crash: async (vmId) => void (await host.sandbox.inside('sh', '-c', `kill -9 $(cat /run/libvirt/qemu/berth-${vmId}.pid)`)),
      send: async (vmId, _mac, bytes) =>
        void (await shell.run(vmId, 'ping -A -c "$0" -s 50000 "$1"', String(Math.ceil(bytes / 50_000) + 1), host.gateway)),
    },
    giveUpStop: async (vmId) => {
      await shell.run(vmId, 'killall acpid')
      const cut = new AbortController()
      const stopping = expectKind(driver.ensureStopped(vmId, { graceMs: TIMEOUT_MS }, cut.signal), 'aborted')
      const isOrdered = async (): Promise<boolean> => (await host.sandbox.virsh('dumpxml', `berth-${vmId}`)).includes('stop="ordered"')
      await eventually('the order to stop', isOrdered, TIMEOUT_MS)
      cut.abort()
      await stopping
    },
    losePower: async () => {
      await losePower(host.sandbox)
      await returnPower(host.sandbox)
    },
    patienceMs: TIMEOUT_MS,
    /** Real guests need memory and time, so they are removed after each test. */
    tidy: async () => {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      for (const vmId of made.splice(0)) await driver.ensurePurged(vmId, signal)
      for (const volume of volumes.splice(0)) await driver.ensureNoVolume(volume, signal)
      for (const imageId of imageIds.splice(0)) {
        await driver.ensureNoIso(imageId, signal)
        await rm(isoFile(imageId))
      }
      for (const { mac } of await collect(networks.listPorts(signal))) await networks.ensureNoPort(mac, signal)
      for (const { networkId } of await collect(networks.listNetworks(signal))) await networks.ensureNoNetwork(networkId, signal)
    },
    close: async () => {
      await Promise.all([driver.close(), other.close(), networks.close(), shell.close()])
      await host.close()
    },
  }
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0')

const privateNic = (networkId: string, number: number, address: string): NicSpec => ({
  mac: `52:54:00:01:${hex(number >> 8)}:${hex(number & 255)}`,
  kind: 'private',
  networkId,
  ipv4: { address, prefix: 24, gateway: null },
  ipv6: null,
  dns: [],
})

export function specMaker(gateway: string) {
  let machines = 0
  return (template: TemplateRef, changes: Partial<MachineSpec>): MachineSpec => {
    const [high, low] = [++machines >> 8, machines & 255]
    const address = `10.77.${1 + high}.${low}`
    const nic: NicSpec = {
      mac: `52:54:00:00:${hex(high)}:${hex(low)}`,
      kind: 'public',
      networkId: null,
      ipv4: { address, prefix: 16, gateway },
      ipv6: null,
      dns: [gateway],
    }
    const size = {
      generation: 1,
      vcpu: 1,
      cpus: null,
      ramMiB: 256,
      diskGiB: 2,
      storageId: null,
      diskLimits: { iops: null, miBPerSecond: null },
    }
    const seed = { hostname: `guest-${machines}`, user: 'root', sshKeys: ['ssh-ed25519 AAAA someone'], passwordHash: '$6$berth$first' }
    return { vmId: newId(), uuid: randomUUID(), accountId: newId(), ...size, template, seed, nics: [nic], volumes: [], ...changes }
  }
}
