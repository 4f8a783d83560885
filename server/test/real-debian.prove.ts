// The life of a VM with the Debian image built here, through the product on a real host.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { debianImage } from './debian-image.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRealHost, realProduct } from './real-product.ts'

/** Generous, for emulated Debian on a loaded machine. */
const TIMEOUT_MS = 600_000
const PASSWORD = 'correct horse 7'

describeIf(missingForRealHost())('a real VM of Debian', { timeout: 4 * TIMEOUT_MS }, async () => {
  const image = await debianImage()
  const { customer, ssh, sandbox, db, settings, broken } = await realProduct()
  await berthdJson(settings, 'template', 'import', 'debian-12', '--file', image.path)

  /** Longer timeouts than for the smallest guest. */
  async function done(vmId: string, actionId: string): Promise<void> {
    const ended = await eventually(async () => {
      const found = await customer.get(`/vms/${vmId}/actions/${actionId}?wait=5`)
      return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(found.status) && found
    }, TIMEOUT_MS)
    expect(ended).toMatchObject({ status: 'COMPLETED', error: null })
  }

  test('boots with its settings and leaves nothing behind', async () => {
    const key = await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
    const { id: osTemplateId } = await db.one<{ id: string }>(sql`select id from os_templates where slug = 'debian-12'`)
    const order = { ...(await customer.tiny()), osTemplateId, planId: await customer.plan('nano'), hostname: 'deb-1' }
    const login = { sshKeyIds: [key.data.id], password: PASSWORD }
    const { data } = await customer.send('POST', '/vms', { ...order, ...login })
    const { id } = data.vm
    await done(id, data.actionId)
    const vm = await customer.get(`/vms/${id}`)
    expect(vm).toMatchObject({ status: 'RUNNING', readiness: 'reachable' })

    const inside = (command: string) => ssh.reached(vm.ipAddress, command, TIMEOUT_MS)
    expect(await inside('hostname')).toBe('deb-1')
    expect(await inside('cat /etc/debian_version')).toMatch(/^12\./)
    expect(Number(await inside("df -k / | awk 'END { print $2 }'"))).toBeGreaterThan(9 * 2 ** 20)
    expect((await ssh.byPassword(vm.ipAddress, PASSWORD, 'id -un')).trim()).toBe('root')

    const gone = await customer.send('DELETE', `/vms/${id}`)
    await done(id, gone.data.actionId)
    expect(await sandbox.virsh('list', '--all', '--name')).toBe('\n')
    expect(await sandbox.virsh('vol-list', 'berth')).not.toContain(id)
    expect(await broken()).toBe('')
  })
})
