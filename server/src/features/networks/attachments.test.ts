import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { contains, parseAddress, parseCidr } from '../../kernel/cidr.ts'
import { sql } from '../../kernel/database/db.ts'
import { getHost } from '../hosts/service.ts'
import {
  allocateAddress,
  attachedNetworks,
  attachmentsOf,
  releaseAddress,
  releaseAllAddresses,
  requireNetworks,
  type Attachment,
} from './service.ts'

describe('addresses of private networks', async () => {
  const app = await testApp({ breaks: ['networks.owner'] }) // VMs are bare ids here
  const customer = await app.given.customer()
  const { id: nodeId } = await getHost(app.db, 'local')

  let ranges = 0
  const givenNetwork = async (more: object = {}): Promise<string> => {
    const body = { name: `net${ranges}`, nodeId, cidr: `10.11.${ranges++}.0/24`, ...more }
    await app.db.run(sql`update account_quotas set limit_override = 1000 where account_id = ${customer.accountId}`)
    return (await customer.post('/networks', body)).body.data.id
  }
  const attach = (networkId: string, vmId: string): Promise<Attachment> =>
    app.db.tx(async (tx) => {
      const [network] = await requireNetworks(tx, customer.accountId, [networkId])
      return allocateAddress(tx, network!, vmId)
    })
  const attachInTurn = async (networkId: string, count: number, from = 0): Promise<string[]> => {
    const addresses: string[] = []
    for (let i = from; i < from + count; i++) addresses.push((await attach(networkId, `${networkId}-vm${i}`)).address)
    return addresses
  }

  test('start after the gateway', async () => {
    const id = await givenNetwork({ cidr: '192.168.1.0/24' })
    const attachment = await attach(id, 'cvm-first')
    expect(attachment).toEqual({
      vm_id: 'cvm-first',
      network_id: id,
      network_name: expect.any(String),
      mac: expect.stringMatching(/^02(:[0-9a-f]{2}){5}$/),
      address: '192.168.1.2',
      prefix: 24,
      ranges: [],
      way_out: '192.168.1.1',
    })
    expect(await attachmentsOf(app.db, 'cvm-first')).toEqual([attachment])
  })

  test('skip a gateway inside the range', async () => {
    const id = await givenNetwork({ cidr: '192.168.2.0/29', gateway: '192.168.2.3' })
    expect(await attachInTurn(id, 5)).toEqual(['192.168.2.1', '192.168.2.2', '192.168.2.4', '192.168.2.5', '192.168.2.6'])
  })

  test('use every address without a gateway', async () => {
    const id = await givenNetwork({ cidr: '192.168.3.0/30', enableSnat: false, enableDhcp: false })
    expect(await attachInTurn(id, 2)).toEqual(['192.168.3.1', '192.168.3.2'])
    await expect(attach(id, 'one-more')).rejects.toMatchObject({ code: 'incompatible' })
  })

  test('are reused as late as possible', async () => {
    const id = await givenNetwork({ cidr: '192.168.4.0/29' })
    expect(await attachInTurn(id, 3)).toEqual(['192.168.4.2', '192.168.4.3', '192.168.4.4'])
    await app.db.tx((tx) => releaseAddress(tx, id, `${id}-vm1`))
    expect(await attachInTurn(id, 3, 10)).toEqual(['192.168.4.5', '192.168.4.6', '192.168.4.3'])
    await expect(attach(id, 'one-more')).rejects.toMatchObject({
      code: 'incompatible',
      message: expect.stringMatching(/^The network net\d+ \(192\.168\.4\.0\/29\) is full: /),
    })
  })

  test('are allocated to a VM once per network', async () => {
    const id = await givenNetwork()
    await attach(id, 'cvm-twice')
    await expect(attach(id, 'cvm-twice')).rejects.toMatchObject({ code: 'already_exists' })
    expect(await attachmentsOf(app.db, 'cvm-twice')).toHaveLength(1)
  })

  test('are listed for many VMs in one query, in attachment order', async () => {
    const [first, second] = [await givenNetwork(), await givenNetwork()]
    await attach(second, 'cvm-a')
    await attach(first, 'cvm-a')
    await attach(first, 'cvm-b')
    const listed = await attachmentsOf(app.db, ['cvm-a', 'cvm-b'])
    expect(listed.map(({ vm_id, network_id }) => [vm_id, network_id])).toEqual([
      ['cvm-a', second],
      ['cvm-a', first],
      ['cvm-b', first],
    ])
    expect((await attachedNetworks(app.db, 'cvm-a')).map(({ id }) => id)).toEqual([second, first])
    await app.db.tx((tx) => releaseAllAddresses(tx, 'cvm-a'))
    expect(await attachmentsOf(app.db, ['cvm-a', 'cvm-b'])).toHaveLength(1)
  })

  test('of several networks come in the requested order, deduplicated', async () => {
    const [first, second] = [await givenNetwork(), await givenNetwork()]
    const rows = await app.db.tx((tx) => requireNetworks(tx, customer.accountId, [second, first, second]))
    expect(rows.map((row) => row.id)).toEqual([second, first])
    expect(await app.db.tx((tx) => requireNetworks(tx, customer.accountId, []))).toEqual([])
  })

  test('are unique under concurrent allocation', async () => {
    const id = await givenNetwork({ cidr: '192.168.5.0/24' })
    const outcomes = await Promise.allSettled(Array.from({ length: 400 }, (_, i) => attach(id, `cvm-crowd-${i}`)))
    const given = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as { code: string }] : []))
    expect([given.length, refused.length]).toEqual([253, 147])
    expect(new Set(refused.map((error) => error.code))).toEqual(new Set(['incompatible']))
    expect(new Set(given.map(({ address }) => address)).size).toBe(253)
    expect(new Set(given.map(({ mac }) => mac)).size).toBe(253)
    const range = parseCidr('192.168.5.0/24')!
    expect(given.every(({ address }) => contains(range, parseAddress(address)!))).toBe(true)
    const never = ['192.168.5.0', '192.168.5.1', '192.168.5.255']
    expect(given.filter(({ address }) => never.includes(address))).toEqual([])
  })

  test('do not deadlock when networks are requested in opposite orders', async () => {
    const [first, second] = [await givenNetwork(), await givenNetwork()]
    const attachBoth = (ids: string[], vmId: string): Promise<void> =>
      app.db.tx(async (tx) => {
        for (const network of await requireNetworks(tx, customer.accountId, ids)) await allocateAddress(tx, network, vmId)
      })
    const all = Array.from({ length: 40 }, (_, i) => attachBoth(i % 2 ? [first, second] : [second, first], `cvm-both-${i}`))
    await Promise.all(all)
    expect((await customer.get(`/networks/${first}`)).body.data.attachmentCount).toBe(40)
  })
})
