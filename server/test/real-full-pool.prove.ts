// A host whose storage pool fills up: guests are paused in the write that found no space, the product says so and writes nothing new, and
// once there is space they go on where they were.
import { afterAll, expect, test } from 'vitest'
import { missingCommands } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { GuestShell } from './guest-shell.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'

const [DISK, POOL] = ['/var/lib/libvirt/small', '/var/lib/libvirt/images/berth']

/** The pool on a file system of its own. Its image is sparse, and so is what `fallocate` takes of it: 40 GiB cost a few MiB here. */
const MOUNT_POOL = `
  truncate -s 40G ${DISK}.img; mkfs.ext4 -q -m 0 -E lazy_itable_init=1 ${DISK}.img
  mkdir -p ${DISK}; mount -o loop ${DISK}.img ${DISK}
  mkdir ${DISK}/pool; mount --bind ${DISK}/pool ${POOL}`

interface Seen {
  status: string
  statusReason: string | null
  allowedActions: string[]
}

describeIf(missingForRealHost() ?? missingCommands('mkfs.ext4'))('a full storage pool', { timeout: 6 * TIMEOUT_MS }, async () => {
  const { customer, host, sandbox, settings, processes, broken } = await realProduct(async ({ sandbox: own, uri }) => {
    await own.inside('sh', '-ec', MOUNT_POOL)
    await own.virsh('pool-refresh', 'berth')
    return uri
  })
  const shell = new GuestShell(host.sandboxes.unix(sandbox), TIMEOUT_MS)
  afterAll(() => shell.close())
  const input = { ...(await customer.tiny()), planId: await customer.plan('nano') }
  const vmId = await customer.order('POST', '/vms', { ...input, hostname: 'writer' })
  const inside = async (script: string): Promise<string> => (await shell.run(vmId, script)).output.trim()
  const becomes = (what: (seen: Seen) => boolean) =>
    eventually(async () => {
      const seen = await customer.get<Seen>(`/vms/${vmId}`)
      return what(seen) && seen
    }, TIMEOUT_MS)
  const freeMiB = async (): Promise<number> => Number(await sandbox.inside('sh', '-c', `df -m --output=avail ${POOL} | tail -1`))

  test('pauses the guest, says why, refuses what is new, and lets it go on afterwards', async () => {
    const bootId = await inside('cat /proc/sys/kernel/random/boot_id')
    await sandbox.inside('fallocate', '-l', `${(await freeMiB()) - 64}M`, `${DISK}/ballast`)
    // 150 MiB of random bytes into 64 MiB, in the background: the agent stands still with the guest.
    await inside(`(for n in $(seq 150); do head -c 1048576 /dev/urandom > /root/new; sum=$(sha256sum /root/new)
      mv /root/new /root/\${sum%% *}; sync; done; echo done > /root/state) > /dev/null 2>&1 & echo begun`)

    const full = await becomes(({ status }) => status === 'STOPPED')
    expect(full.statusReason).toContain('disk of its host is full')
    expect(full.allowedActions).not.toContain('start')
    expect(await sandbox.virsh('domstate', '--reason', `berth-${vmId}`)).toContain('paused (I/O error)')
    expect(await freeMiB()).toBeLessThan(2)

    const low = await eventually(async () => {
      const { checks } = await berthdJson<{ checks: { status: string; message: string }[] }>(settings, 'doctor', 'reserve')
      return checks[0]?.message.includes('below it') && checks[0]
    }, TIMEOUT_MS)
    expect(low).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('sandbox is below it, so nothing new is written there'),
    })
    await eventually(async () => processes.worker.output().includes('is used up: nothing new is written'), TIMEOUT_MS)
    expect(await customer.send('POST', '/vms', { ...input, hostname: 'next' })).toMatchObject({ status: 503 })
    expect(await customer.send('POST', `/vms/${vmId}/snapshots`, { name: 'next' })).toMatchObject({ status: 503 })
    // Still paused: each resume repeats the write, and it fails again.
    expect(await customer.get<Seen>(`/vms/${vmId}`)).toEqual(full)

    await sandbox.inside('rm', `${DISK}/ballast`)
    expect(await becomes(({ status }) => status === 'RUNNING')).toMatchObject({ statusReason: null })
    await eventually(async () => (await inside('cat /root/state 2> /dev/null || true')) === 'done', TIMEOUT_MS)
    expect(await inside('cat /proc/sys/kernel/random/boot_id')).toBe(bootId)
    expect(await inside('cd /root; ls ????????????????* | wc -l')).toBe('150')
    expect(await inside('cd /root; for f in ????????????????*; do sha256sum $f; done | awk "\\$1 != \\$2" | wc -l')).toBe('0')
    expect(await inside('dmesg | grep -ciE "i/o error|ext4.*(error|read-only)" || true')).toBe('0')
    expect(await customer.get<{ action: string }[]>(`/vms/${vmId}/actions`)).toHaveLength(1)
    expect(await broken()).toBe('')
  })
})
