// Boots the images built here under emulation.
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { debianImage } from '../../test/debian-image.ts'
import { bootGuest, guestDisk, PASSWORD, type Guest } from '../../test/guest.ts'
import { eventually } from '../../test/processes.ts'
import { hashGuestPassword } from '../features/vms/model/guest-password.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Arch } from '../kernel/arch.ts'
import { buildImage } from './build-or-import.ts'
import { openImageStore } from './store.ts'

const BUILD_MS = 1_800_000
const TIMEOUT = { timeout: 2_400_000 }

const folder = await mkdtemp(join(tmpdir(), 'berth-boot-'))
afterAll(() => rm(folder, { recursive: true }))
const store = openImageStore(folder, systemClock)
const build = (recipe: string, arch: Arch) => buildImage(store, recipe, { arch, progress: () => {}, signal: AbortSignal.timeout(BUILD_MS) })

const base64 = (text: string): string => Buffer.from(text).toString('base64')

interface Interface {
  name: string
  'ip-addresses'?: { 'ip-address': string }[]
}

async function addresses({ agent }: Guest): Promise<string[]> {
  const interfaces = await agent<Interface[]>('guest-network-get-interfaces')
  return interfaces.flatMap((each) => each['ip-addresses'] ?? []).map((each) => each['ip-address'])
}

/** The one of its seed alone, although QEMU advertises itself as a router. */
async function expectIpv6(guest: Guest): Promise<void> {
  const own = (await addresses(guest)).filter((address) => address.includes(':') && address !== '::1' && !address.startsWith('fe80:'))
  expect(own).toEqual(['fec0::77'])
  expect((await guest.ssh('ip -6 route')).match(/^default.*/gm)).toEqual([expect.stringContaining('via fec0::2 ')])
}

const rootGib = async ({ ssh }: Guest): Promise<number> => Number((await ssh('df -k / | tail -1')).trim().split(/\s+/)[1]) / 1024 ** 2

describe.each<Arch>(['aarch64', 'x86_64'])('a tiny guest of %s', TIMEOUT, (arch) => {
  test('applies its cloud-init seed, keeps its state, responds to agent and power button, and grows its disk', async () => {
    const image = await build('tiny', arch)
    const disk = await guestDisk(image, 'web-1', { gib: 3, ramMiB: 256 })
    onTestFinished(disk.remove)
    const guest = await bootGuest(disk)
    onTestFinished(() => void guest.kill())

    expect((await guest.ssh('hostname')).trim()).toBe('web-1')
    expect((await guest.ssh('cat /etc/resolv.conf')).trim()).toBe('nameserver 10.0.2.3')
    await expectIpv6(guest)
    expect((await guest.sshByPassword(PASSWORD, 'whoami')).trim()).toBe('root')
    await expect(guest.sshByPassword('wrong', 'whoami')).rejects.toThrow('Permission denied')
    expect(await rootGib(guest)).toBeGreaterThan(2.7)
    const hostKey = await guest.hostKey()

    await guest.agent('guest-set-user-password', {
      username: 'root',
      password: base64(await hashGuestPassword('a', 'another')),
      crypted: true,
    })
    expect((await guest.sshByPassword('another', 'whoami')).trim()).toBe('root')
    expect(await guest.agent('guest-fsfreeze-freeze')).toBe(1)
    expect(await guest.agent('guest-fsfreeze-thaw')).toBe(1)
    await guest.ssh('echo kept > /root/kept')

    await guest.monitor('netdev_add', { type: 'user', id: 'more', net: '10.9.9.0/24' })
    await guest.monitor('device_add', { driver: 'virtio-net-pci', netdev: 'more', id: 'nic', bus: 'spare', romfile: '' })
    await eventually(async () => (await addresses(guest)).includes('10.9.9.15'), 120_000)
    expect((await guest.ssh('ip route')).match(/^default/gm)).toHaveLength(1)

    const volume = join(folder, `${arch}.raw`)
    await writeFile(volume, '')
    await truncate(volume, 64 * 2 ** 20)
    await guest.monitor('blockdev-add', { driver: 'raw', 'node-name': 'volume', file: { driver: 'file', filename: volume } })
    await guest.monitor('device_add', { driver: 'virtio-blk-pci', drive: 'volume', serial: 'data', bus: 'spare-2' })
    const path = '/dev/disk/by-id/virtio-data'
    await eventually(async () => (await guest.ssh('ls /dev/disk/by-id')).includes('virtio-data'), 120_000)
    await guest.ssh(`mkfs.ext4 -q ${path} && mount ${path} /mnt && echo kept > /mnt/kept && umount /mnt`)

    await guest.monitor('system_powerdown')
    await guest.ended()
    const again = await bootGuest(disk)
    onTestFinished(() => void again.kill())
    expect(await again.hostKey()).toBe(hostKey)
    expect((await again.ssh('cat /root/kept')).trim()).toBe('kept')
    expect((await again.sshByPassword('another', 'whoami')).trim()).toBe('root')
    again.kill()
    await again.ended()

    const other = await guestDisk(image, 'web-2', { gib: 3, ramMiB: 256 })
    onTestFinished(other.remove)
    const stranger = await bootGuest(other)
    onTestFinished(() => void stranger.kill())
    expect(await stranger.hostKey()).not.toBe(hostKey)
  })
})

describe('a Debian guest', TIMEOUT, () => {
  test('accepts key and password logins and has its hostname and full disk size', async () => {
    const image = await debianImage()
    const disk = await guestDisk(image, 'deb-1', { gib: 5, ramMiB: 512 })
    onTestFinished(disk.remove)
    const guest = await bootGuest(disk)
    onTestFinished(() => void guest.kill())
    expect((await guest.ssh('hostname')).trim()).toBe('deb-1')
    await expectIpv6(guest)
    expect((await guest.ssh('cat /etc/debian_version')).trim()).toMatch(/^12\./)
    expect((await guest.sshByPassword(PASSWORD, 'whoami')).trim()).toBe('root')
    expect(await rootGib(guest)).toBeGreaterThan(4.5)
    await guest.monitor('system_powerdown')
    await guest.ended()
  })
})
