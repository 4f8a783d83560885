// The northbound database of OVN is restored from an older backup, on a real host with real guests: the reconcilers mend what it has lost.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { realGuests } from './real-guests.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'

const DATABASE = '/var/lib/ovn/ovnnb_db.db'
const BACKUP = '/run/northbound.backup'
/** Both reconcilers compare every 45 s. */
const MENDED_MS = 90_000

describeIf(missingForRealHost())('a restored northbound database', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { customer, sandbox, processes, start, boot, answerOn, connect, inside, pings } = await realGuests()
  const { regionId } = await customer.tiny()
  const network = async (name: string, cidr: string): Promise<string> =>
    (await customer.make('/networks', { name, nodeId: regionId, cidr })).id
  const [one, two] = [await network('one', '10.201.0.0/24'), await network('two', '10.202.0.0/24')]
  const [ada, bob] = await Promise.all([boot('ada', { privateNetworkIds: [one] }), boot('bob', { privateNetworkIds: [two] })])
  const firewall = (await customer.make('/firewalls', { name: 'none' })).id
  const privateAddress = async (vmId: string): Promise<string> =>
    (await customer.get<{ privateNetworks: { ipAddress: string }[] }>(`/vms/${vmId}`)).privateNetworks[0]!.ipAddress

  test('gets back the firewall and the peering that were made after the backup', { timeout: 3 * TIMEOUT_MS }, async () => {
    await answerOn(bob, 8080)
    await inside(ada, 'ip route add 10.202.0.0/24 via 10.201.0.1')
    await inside(bob, 'ip route add 10.201.0.0/24 via 10.202.0.1')
    const there = await privateAddress(bob.vmId)
    const state = async () => ({ isOpen: await connect.fromHost(bob.address, 8080), isPeer: await pings(ada, there) })
    await expect.poll(state, { timeout: 30_000 }).toEqual({ isOpen: 'open', isPeer: false })
    await sandbox.inside('sh', '-ec', `ovsdb-client backup unix:/run/ovn/ovnnb_db.sock > ${BACKUP}`)

    await customer.make(`/firewalls/${firewall}/bindings`, { vmId: bob.vmId })
    await customer.make(`/networks/${one}/peerings`, { networkId: two })
    await expect.poll(state, { timeout: 30_000 }).toEqual({ isOpen: 'silence', isPeer: true })

    await processes.worker.kill('SIGKILL') // which would mend it before it is seen
    await sandbox.inside(
      'sh',
      '-ec',
      `kill -9 $(cat /run/ovn/ovnnb_db.pid); cp ${BACKUP} ${DATABASE}; /usr/share/ovn/scripts/ovn-ctl start_nb_ovsdb`,
    )
    await expect.poll(state, { timeout: 20_000 }).toEqual({ isOpen: 'open', isPeer: false })
    processes.worker = await start('worker')
    await expect.poll(state, { timeout: MENDED_MS }).toEqual({ isOpen: 'silence', isPeer: true })
  })
})
