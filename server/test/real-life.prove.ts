// The life of a customer's VM on a real host with a real guest: every operation, verified from inside the guest.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'
import { realGuests } from './real-guests.ts'

const TRAFFIC = 5_000_000

describeIf(missingForRealHost())('the life of a real VM', { timeout: 2 * TIMEOUT_MS }, async () => {
  const { customer, ssh, sandbox, boot, pings, expectNothingLeft, inside: run } = await realGuests()
  const known = { vmId: '', address: '', hostKey: '', bootId: '' }
  const vm = () => customer.get(`/vms/${known.vmId}`)
  const inside = (command: string) => ssh.reached(known.address, command, 120_000)
  const bootId = () => inside('cat /proc/sys/kernel/random/boot_id')

  test('begins with a file and a host key of its own', async () => {
    const key = await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
    const guest = await boot('web-1', { sshKeyIds: [key.data.id] })
    Object.assign(known, guest)
    expect(await inside('echo kept > /root/note; sync; echo done')).toBe('done')
    known.hostKey = await ssh.hostKey(known.address)
  })

  test('reaches another VM in a private network, which cannot spoof addresses', async () => {
    const { regionId } = await customer.tiny()
    const network = await customer.make('/networks', {
      name: 'lan',
      nodeId: regionId,
      cidr: '10.201.0.0/24',
      enableSnat: false,
      enableDhcp: false,
    })
    const [other] = await Promise.all([
      boot('db-1', { privateNetworkIds: [network.id] }),
      customer.order('POST', `/vms/${known.vmId}/networks`, { networkId: network.id }),
    ])
    const addressOf = async (vmId: string): Promise<string> =>
      (await customer.get<{ privateNetworks: { ipAddress: string }[] }>(`/vms/${vmId}`)).privateNetworks[0]!.ipAddress
    const address = await addressOf(known.vmId)
    expect(await pings(other, address)).toBe(true)
    await run(other, 'ip addr flush dev eth1; ip addr add 10.201.0.200/24 dev eth1')
    expect(await pings(other, address)).toBe(false)
    await customer.order('DELETE', `/vms/${other.vmId}`)
    await customer.order('DELETE', `/vms/${known.vmId}/networks/${network.id}`)
    await customer.make(`/networks/${network.id}`, {}, 'DELETE')
  })

  test('is stopped and started, with its traffic metered', async () => {
    const sent = await ssh.byKey(known.address, `head -c ${TRAFFIC} /dev/zero | tr '\\0' x`)
    expect(sent.length).toBe(TRAFFIC)
    await customer.order('POST', `/vms/${known.vmId}/stop`)
    expect(await vm()).toMatchObject({ status: 'STOPPED' })
    const [usage] = await customer.get<{ usedBytes: number }[]>('/bandwidth')
    expect(usage!.usedBytes).toBeGreaterThan(TRAFFIC)
    expect(await sandbox.virsh('list', '--name')).toBe('\n')
    await customer.order('POST', `/vms/${known.vmId}/start`)
    expect(await inside('cat /root/note')).toBe('kept')
    known.bootId = await bootId()
  })

  test('is restarted', async () => {
    await customer.order('POST', `/vms/${known.vmId}/restart`)
    expect(await bootId()).not.toBe(known.bootId)
  })

  test('sees more CPU, RAM and disk after an upgrade', async () => {
    await customer.order('POST', `/vms/${known.vmId}/upgrade`, { planId: await customer.plan('medium') })
    expect(await inside('nproc')).toBe('2')
    expect(Number(await inside("awk '/MemTotal/ { print $2 }' /proc/meminfo"))).toBeGreaterThan(1800 * 1024)
    expect(Number(await inside("df -k / | awk 'END { print $2 }'"))).toBeGreaterThan(45 * 2 ** 20)
    expect(await inside('cat /root/note')).toBe('kept')
    expect(await ssh.hostKey(known.address)).toBe(known.hostKey)
  })

  test('is restored to a snapshot', async () => {
    const snapshots = `/vms/${known.vmId}/snapshots`
    const sum = await inside(
      'head -c 100000 /dev/urandom > /root/f; s=$(sha256sum /root/f); mv /root/f /root/${s%% *}; sync; echo ${s%% *}',
    )
    await customer.order('POST', snapshots, { name: 'kept' })
    const [{ id, status } = { id: '', status: '' }] = (await customer.send('GET', snapshots)).data as unknown as {
      id: string
      status: string
    }[]
    expect(status).toBe('AVAILABLE')
    await inside(`rm /root/${sum}; echo changed > /root/note; sync; echo done`)
    await customer.order('POST', `${snapshots}/${id}/restore`)
    expect(await inside(`cat /root/note; sha256sum < /root/${sum}`)).toBe(`kept\n${sum}  -`)
    expect(await ssh.hostKey(known.address)).toBe(known.hostKey)
  })

  test('has a new disk and the same address after a rebuild', async () => {
    const { osTemplateId } = await customer.tiny()
    await customer.order('POST', `/vms/${known.vmId}/rebuild`, { osTemplateId })
    expect((await vm()).ipAddress).toBe(known.address)
    await ssh.forget()
    expect(await inside('cat /root/note 2>/dev/null || echo gone')).toBe('gone')
    expect(await ssh.hostKey(known.address)).not.toBe(known.hostKey)
  })

  test('leaves nothing behind', async () => {
    await customer.order('DELETE', `/vms/${known.vmId}`)
    await expectNothingLeft(known.vmId)
  })
})
