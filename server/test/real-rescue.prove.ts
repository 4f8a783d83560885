// A real guest that its owner has broken is mended from the rescue system, and boots again with all that it had; and whichever process is killed while a
// rescue begins or ends, the VM is in one of the two states afterwards, with nothing left behind.
import { describe, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { eventually } from './processes.ts'
import { KILLS, sshGuests } from './ssh-guests.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'

interface Seen {
  status: string
  ipAddress: string
  readiness: string
  rescue: { user: string } | null
}

/** Of the image: of its partitions the second is the root. */
const OWN = '/dev/vdb2'

describeIf(missingForRealHost())('a rescue of a real guest', { timeout: 12 * TIMEOUT_MS }, async () => {
  const product = await realProduct()
  const { customer, db, sandbox, broken, ended } = product
  const { vm, create, shell } = await sshGuests<Seen>(product)
  const filesOf = async (vmId: string) => {
    const files = await sandbox.virsh('vol-list', 'berth')
    const named = files.matchAll(new RegExp(`^ *((?:vm|seed)-${vmId}-\\S+)`, 'gm'))
    return [...named].map(([, name]) => name!).sort()
  }
  const ownFiles = (vmId: string) => [`seed-${vmId}-1.iso`, `vm-${vmId}-1.qcow2`, `vm-${vmId}-1.qcow2.whole`]

  test('mends what its owner has broken, and loses nothing', async () => {
    const { vmId, address } = await create('broken-1')
    const before = await shell(address, 'dd if=/dev/urandom of=/root/data bs=64k count=16 2> /dev/null; sync; sha256sum < /root/data')
    const boot = await shell(address, 'cat /proc/sys/kernel/random/boot_id')
    await shell(address, 'rm /usr/bin/init && sync && (sleep 1; reboot -f) > /dev/null 2>&1 &')
    // Its kernel finds no init, and that is the end of it.
    await eventually(
      async () => /name='org.qemu.guest_agent.0' state='disconnected'/.test(await sandbox.virsh('dumpxml', `berth-${vmId}`)),
      TIMEOUT_MS,
    )

    await customer.order('POST', `/vms/${vmId}/rescue`, {})
    expect(await vm(vmId)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', ipAddress: address, rescue: { user: 'root' } })
    expect(await shell(address, 'cat /proc/sys/kernel/random/boot_id; hostname')).not.toContain(boot)
    expect(await shell(address, `mount -t ext4 ${OWN} /mnt && ls /mnt/usr/bin/init 2>&1; umount /mnt`)).toMatch(/No such file/)
    expect(await shell(address, `fsck.ext4 -fy ${OWN} > /root/checked 2>&1; echo $?`)).toMatch(/^[01]$/)

    await customer.order('POST', `/vms/${vmId}/stop`)
    await customer.order('POST', `/vms/${vmId}/start`)
    expect(await shell(address, 'ls /root/checked')).toBe('/root/checked') // still the rescue system, and the same
    const mend = `mount -t ext4 ${OWN} /mnt && ln -s busybox /mnt/usr/bin/init && sha256sum < /mnt/root/data && umount /mnt && sync`
    expect(await shell(address, mend)).toBe(before)

    await customer.order('DELETE', `/vms/${vmId}/rescue`)
    expect(await vm(vmId)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', ipAddress: address, rescue: null })
    expect(await shell(address, 'sha256sum < /root/data; ls /root/checked 2> /dev/null; hostname')).toBe(`${before}\nbroken-1`)
    expect(await filesOf(vmId)).toEqual(ownFiles(vmId))
    expect(await broken()).toBe('')
    await customer.order('DELETE', `/vms/${vmId}`)
    expect(await filesOf(vmId)).toEqual([])
  })

  describe('when a process is killed', async () => {
    const inStep = (actionId: string, step: string) =>
      eventually(
        () => db.maybe(sql`select 1 from workflow_steps where run_id = ${actionId} and name = ${step} and status <> 'PENDING'`),
        TIMEOUT_MS,
      )
    const STEPS = { POST: ['disk', 'stop', 'filter', 'boot', 'ready'], DELETE: ['stop', 'filter', 'boot', 'ready', 'clean up'] }

    test.each(Object.keys(KILLS))('%s, in each step, the VM is in rescue or not, and nothing is left', async (victim) => {
      const { vmId, address } = await create(`killed-${victim}`)
      const before = await shell(address, 'dd if=/dev/urandom of=/root/data bs=64k count=4 2> /dev/null; sync; sha256sum < /root/data')
      for (const method of ['POST', 'DELETE'] as const)
        for (const step of STEPS[method]) {
          const isInRescue = (await vm(vmId)).rescue !== null
          if (isInRescue !== (method === 'DELETE')) await customer.order(isInRescue ? 'DELETE' : 'POST', `/vms/${vmId}/rescue`, {})
          const { data } = await customer.send(method, `/vms/${vmId}/rescue`, method === 'POST' ? {} : undefined)
          await inStep(data.actionId, step)
          await KILLS[victim]!(product)
          await ended(TIMEOUT_MS)
          const now = await vm(vmId)
          const { status } = await customer.get<{ status: string }>(`/vms/${vmId}/actions/${data.actionId}`)
          expect([step, now.status, now.rescue !== null]).toEqual([step, 'RUNNING', (status === 'COMPLETED') === (method === 'POST')])
          expect([step, (await filesOf(vmId)).length]).toEqual([step, now.rescue ? 6 : 3])
          expect([step, await broken()]).toEqual([step, ''])
        }
      if ((await vm(vmId)).rescue) await customer.order('DELETE', `/vms/${vmId}/rescue`)
      expect(await shell(address, 'sha256sum < /root/data')).toBe(before)
      await customer.order('DELETE', `/vms/${vmId}`)
      expect(await filesOf(vmId)).toEqual([])
    })
  })
})
