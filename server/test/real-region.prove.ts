// A region of two real hosts and a network controller on a third machine: a private network reaches from host to host, and two customers use
// the same range on the same hosts without seeing each other.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet } from './fleet.ts'
import { GuestShell } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthdJson, eventually } from './processes.ts'
import { tinyImage } from './tiny-image.ts'
import { tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000
const RANGE = '10.201.0.0/24'

interface Guest {
  vmId: string
  host: TlsHost
  /** In the private network. */
  address: string
}

interface Shown {
  status: string
  privateNetworks: { ipAddress: string }[]
}

describeIf(missingForLibvirtHost())('a region of two hosts', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  let sandboxes: Sandboxes
  let hosts: TlsHost[]
  let shells: Map<TlsHost, GuestShell>
  let ada: Guest[]
  let eve: Guest[]
  let routes: string[]

  const routesOf = (): Promise<string[]> => Promise.all(hosts.map(({ sandbox }) => sandbox.inside('ip', 'route')))

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts = await tlsHosts(sandboxes, settings, ['left', 'right'])
    shells = new Map(hosts.map((host) => [host, new GuestShell(sandboxes.unix(host.sandbox), TIMEOUT_MS)]))
    routes = await routesOf()
    const api = await start('api')
    await start('worker')
    const customers = [await account(1_000_000n), await account(1_000_000n, 'eve@example.com')].map(({ token }) =>
      clientOf(token, () => api),
    )
    ;[ada, eve] = (await Promise.all(customers.map(twoGuests))) as [Guest[], Guest[]]
  }, 2 * TIMEOUT_MS)
  afterAll(async () => {
    await Promise.all([...(shells?.values() ?? [])].map((shell) => shell.close()))
    await sandboxes?.close()
  })

  /** One on each host, in a network of their own. */
  async function twoGuests(customer: ReturnType<typeof clientOf>): Promise<Guest[]> {
    const ids = await db.one<{ regionId: string }>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    const network = await customer.send('POST', '/networks', { name: 'lan', nodeId: ids.regionId, cidr: RANGE })
    expect([network.status, network.error]).toEqual([201, undefined])
    const group = await customer.send('POST', '/placement-groups', { name: 'apart', policy: 'STRICT_SPREAD' })
    const input = { ...ids, privateNetworkIds: [network.data.id], placementGroupId: group.data.id }
    const guests: Guest[] = []
    for (const hostname of ['one', 'two']) {
      const { status, error, data } = await customer.send('POST', '/vms', { ...input, hostname })
      expect([status, error]).toEqual([202, undefined])
      const shown = async (): Promise<Shown> => (await customer.send('GET', `/vms/${data.vm.id}`)).data as unknown as Shown
      await eventually(async () => (await shown()).status === 'RUNNING', TIMEOUT_MS)
      const row = await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${data.vm.id}`)
      const [{ ipAddress }] = (await shown()).privateNetworks as [{ ipAddress: string }]
      guests.push({ vmId: data.vm.id, host: hosts.find(({ id }) => id === row.host_id)!, address: ipAddress })
    }
    return guests
  }

  const run = (guest: Guest, script: string, ...args: string[]): Promise<{ exitCode: number; output: string }> =>
    shells.get(guest.host)!.run(guest.vmId, script, ...args)
  const pings = async (from: Guest, to: string): Promise<boolean> => (await run(from, 'ping -c 1 -W 2 "$0"', to)).exitCode === 0

  test('guests of one network reach each other from host to host', async () => {
    expect(new Set([...ada, ...eve].map(({ host }) => host.name))).toEqual(new Set(['left', 'right']))
    for (const [one, other] of [ada, eve] as [Guest, Guest][]) {
      await expect.poll(() => pings(one, other.address), { timeout: 30_000 }).toBe(true)
      expect(await pings(other, one.address)).toBe(true)
    }
  })

  test('the same addresses of another customer are another network', async () => {
    expect(ada.map(({ address }) => address)).toEqual(eve.map(({ address }) => address))
    const token = 'seen-by-its-own-network-only'
    await run(ada[1]!, `(echo ${token} | nc -l -p 7777) </dev/null >/dev/null 2>&1 & sleep 0.2`)
    expect((await run(eve[0]!, 'nc -w 2 "$0" 7777 </dev/null || true', ada[1]!.address)).output).not.toContain(token)
    expect((await run(ada[0]!, 'nc -w 5 "$0" 7777 </dev/null || true', ada[1]!.address)).output).toContain(token)
  })

  test('nothing of a customer is in the routing tables of hosts', async () => {
    expect(await routesOf()).toEqual(routes)
    expect(await broken()).toBe('')
  })
})
