// A customer's VM on a real host with a real guest, and one of the other architecture. The rest of its life is in real-life.prove.ts.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { foreignArch, nativeArch } from '../src/kernel/arch.ts'
import { berthdJson, eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests } from './real-guests.ts'
import { tinyImage } from './tiny-image.ts'

const PASSWORD = 'correct horse 7'

describeIf(missingForRealHost())('a real VM', { timeout: 2 * TIMEOUT_MS }, async () => {
  const { customer, settings, ssh, boot, answerOn, connect, expectNothingLeft, inside: run } = await realGuests()
  const known = { vmId: '', address: '' }
  const vm = () => customer.get(`/vms/${known.vmId}`)
  const inside = (command: string) => ssh.reached(known.address, command, 120_000)

  test('boots and accepts key and password logins', async () => {
    const key = await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
    const size = { planId: await customer.plan('nano') }
    const login = { sshKeyIds: [key.data.id], password: PASSWORD }
    known.vmId = await customer.order('POST', '/vms', { ...(await customer.tiny()), ...size, ...login, hostname: 'web-1' })
    expect(await vm()).toMatchObject({ status: 'RUNNING', readiness: 'reachable', ipAddress: expect.stringMatching(/^10\.77\./) })
    known.address = (await vm()).ipAddress
    expect(await inside('hostname')).toBe('web-1')
    expect(Number(await inside('cat /sys/block/vda/size'))).toBe((10 * 2 ** 30) / 512)
    expect(Number(await inside("df -k / | awk 'END { print $2 }'"))).toBeGreaterThan(9 * 2 ** 20)
    expect((await ssh.byPassword(known.address, PASSWORD, 'id -un')).trim()).toBe('root')
    await expect(ssh.byPassword(known.address, 'wrong', 'id -un')).rejects.toThrow('Permission denied')
  })

  test('is blocked by a firewall except for allowed ports', async () => {
    const guest = { vmId: known.vmId, address: known.address }
    await answerOn(guest, 8001, 8002)
    const both = () =>
      Promise.all([8001, 8002].flatMap((port) => [connect.fromHost(known.address, port), connect.fromOutside(known.address, port)]))
    expect(await both()).toEqual(['open', 'open', 'open', 'open'])
    const { id } = await customer.make('/firewalls', { name: 'web' })
    for (const port of ['22', '8001'])
      await customer.make(`/firewalls/${id}/rules`, { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port })
    await customer.make(`/firewalls/${id}/bindings`, { vmId: known.vmId })
    const session = ssh.byKey(known.address, 'touch /run/open; while [ ! -e /run/changed ]; do sleep 0.2; done; echo still here')
    await eventually(async () => (await run(guest, 'ls /run/open')) !== '')
    await eventually(async () => (await customer.get<{ applied: boolean }>(`/firewalls/${id}`)).applied)
    expect(await both()).toEqual(['open', 'open', 'silence', 'silence'])
    await inside('touch /run/changed')
    expect(await session).toBe('still here\n')
  })

  test('runs beside one of the other architecture', async () => {
    const arch = foreignArch()
    const template = (await berthdJson(settings, 'template', 'import', 'tiny', '--arch', arch, '--file', (await tinyImage(arch)).path)) as {
      id: string
    }
    const [{ id }] = await customer.get<[{ id: string }]>('/ssh-keys')
    const guest = await boot('web-2', { osTemplateId: template.id, sshKeyIds: [id] })
    expect(await customer.get(`/vms/${guest.vmId}`)).toMatchObject({ status: 'RUNNING', readiness: 'reachable', osTemplate: { arch } })
    expect(await ssh.reached(guest.address, 'uname -m', 120_000)).toBe(arch)
    expect(await inside('uname -m')).toBe(nativeArch())
    await customer.order('DELETE', `/vms/${guest.vmId}`)
  })

  test('leaves nothing behind', async () => {
    await customer.order('DELETE', `/vms/${known.vmId}`)
    await expectNothingLeft(known.vmId)
  })
})
