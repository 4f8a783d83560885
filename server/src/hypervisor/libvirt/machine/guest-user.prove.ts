// Guests run as users of their own, and own nothing but their own disk and seed.
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost, uriWithFiles } from '../../../../test/libvirt-host.ts'
import { openProof, soon, type Proof } from '../../../../test/libvirt-proof.ts'
import { newId } from '../../../kernel/ids.ts'
import { guestUid } from '../core/guest-user.ts'

describeIf(missingForLibvirtHost())('the user of a guest', { timeout: 400_000 }, () => {
  let proof: Proof
  beforeAll(async () => {
    proof = await openProof(uriWithFiles)
  }, 300_000)
  afterAll(() => proof.close())

  const sh = (command: string): Promise<string> => proof.host.sandbox.inside('sh', '-c', command)
  /** Mode and owner of every file of the pool, without the markers. */
  const files = async (): Promise<Record<string, string>> => {
    const lines = (await sh('cd /var/lib/libvirt/images/berth && stat -c "%n %a %u:%g" *')).trim().split('\n')
    return Object.fromEntries(lines.map((line) => [line.split(' ')[0]!, line.slice(line.indexOf(' ') + 1)]))
  }
  const userOf = async (vmId: string): Promise<number> =>
    Number((await sh(`stat -c %u /proc/$(cat /run/libvirt/qemu/berth-${vmId}.pid)`)).trim())
  /** What QEMU could open for writing, as its user. */
  const writable = (uid: number, file: string): Promise<string> =>
    sh(
      `setpriv --reuid ${uid} --regid 65534 --clear-groups dd if=/dev/null of=/var/lib/libvirt/images/berth/${file} conv=notrunc 2>/dev/null && echo yes || echo no`,
    )

  test('is its own, and templates, seeds, disks and copies are closed to the others', async () => {
    const { driver } = proof
    const [first, second] = [proof.spec(), proof.spec()]
    await proof.start(first)
    await proof.start(second)
    const [one, two] = [guestUid(first.vmId), guestUid(second.vmId)]
    expect([await userOf(first.vmId), await userOf(second.vmId)]).toEqual([one, two])
    const disk = `vm-${first.vmId}-1.qcow2`
    const owned = expect.stringContaining(`600 ${one}:`)
    expect(await files()).toMatchObject({ 'template-tiny.qcow2': '644 0:0', [disk]: owned, [`seed-${first.vmId}-1.iso`]: owned })
    expect([await writable(one, disk), await writable(two, disk)].map((each) => each.trim())).toEqual(['yes', 'no'])
    expect((await writable(one, 'template-tiny.qcow2')).trim()).toBe('no')

    // A guest boots, answers on its consoles, and can be copied while it runs and while it is off.
    expect(await driver.ensureReady(first.vmId, { timeoutMs: 150_000 }, soon())).toEqual({ readiness: 'reachable' })
    const screen = await driver.openConsole(first.vmId, 'vnc', soon())
    const [greeting] = (await once(screen, 'data')) as [Buffer]
    expect(greeting.toString()).toMatch(/^RFB/)
    screen.destroy()
    ;(await driver.openConsole(first.vmId, 'serial', soon())).destroy()
    const [live, full, next] = [newId(), newId(), newId()]
    await driver.ensureSnapshot(first.vmId, live, soon())
    await driver.ensureBackup(first.vmId, { backupId: full, parentId: null }, soon())
    expect(await driver.ensureBackup(first.vmId, { backupId: next, parentId: full }, soon())).toMatchObject({ parentId: full })
    await driver.ensureStopped(first.vmId, { graceMs: 0 }, soon())
    const off = newId()
    await driver.ensureSnapshot(first.vmId, off, soon())
    expect(await driver.ensureDefined({ ...first, diskGiB: 2 }, soon())).toEqual({ diskGiB: 2 })
    const after = await files()
    const kept = [live, off]
      .map((id) => `snapshot-${first.vmId}-${id}.qcow2`)
      .concat([full, next].map((id) => `backup-${first.vmId}-${id}.qcow2`))
    for (const name of kept) {
      expect([name, after[name]?.slice(0, 4)]).toEqual([name, '600 '])
      expect((await writable(two, name)).trim()).toBe('no')
    }
    expect(after['template-tiny.qcow2']).toBe('644 0:0')

    // Restored from a copy, the disk is no layer any more, and the guest has its user again.
    const restored = { ...first, diskGiB: 2, generation: 2 }
    await driver.ensureDisk(restored, { from: 'backup', backupId: next }, soon())
    await driver.ensureRunning(restored, soon())
    expect(await userOf(first.vmId)).toBe(one)
    expect(await files()).toMatchObject({ [`vm-${first.vmId}-2.qcow2`]: owned, 'template-tiny.qcow2': '644 0:0' })
    await driver.ensurePurged(first.vmId, soon())
    await driver.ensurePurged(second.vmId, soon())
    expect(Object.keys(await files()).filter((name) => !name.startsWith('template-'))).toEqual([])
  })
})
