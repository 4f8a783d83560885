import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sampleEvent } from '../../../test/sample-event.ts'
import { sql } from '../../kernel/database/db.ts'
import { recordEvent } from '../events/service.ts'
import { deliverAllDue } from './deliver.reconciler.ts'

let connections = 0
const trap = createServer((socket) => {
  connections++
  socket.destroy()
})
trap.listen(0, '::')
await once(trap, 'listening')
afterAll(() => trap.close())
const { port } = trap.address() as AddressInfo

/** DNS answers by name; a list with several entries returns a different address per lookup (DNS rebinding). */
const names: Record<string, string[]> = {
  'inside.example.com': ['10.0.0.5'],
  'mixed.example.com': ['93.184.216.34 127.0.0.1'],
  'rebind.example.com': ['93.184.216.34', '127.0.0.1'],
}
const app = await testApp({
  environment: { BERTH_PUBLIC_URL: 'https://api.berth.example' },
  outbound: {
    resolve: async (host) => {
      const answers = names[host] ?? ['']
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      return answer
        .split(' ')
        .filter(Boolean)
        .map((address) => ({ address, family: 4 }))
    },
  },
})

/** Spellings of loopback, private, metadata and invalid hosts that could bypass an SSRF guard. */
const GUISES = `
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 017700000001 0177.0.0.1 127.000.000.001 127.0.0.1. 0.0.0.0 0 00000
  127.255.255.254 %31%32%37.0.0.1 127。0。0。1 ①②⑦.0.0.1 [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
  [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fc00::1] [fd00:ec2::254] [ff02::1] [2001:db8::1] [fec0::1] [100::1] 10.0.0.1
  10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 0xc0a80001 3232235521 169.254.169.254 2852039166 0xa9fea9fe
  0251.0376.0251.0376 168.63.129.16 100.64.0.1 100.100.100.200 192.0.0.192 224.0.0.1 255.255.255.255 198.18.0.1 240.0.0.1 localhost
  LOCALHOST localhost. db.localhost printer.local metadata.google.internal api.berth.example. API.berth.example inside.example.com
  mixed.example.com user@127.0.0.1 1.1.1.1@127.0.0.1`
  .trim()
  .split(/\s+/)

describe('SSRF: a URL of an internal host', () => {
  test.each([
    ['http://hooks.example.com/', 'it must begin with https://'],
    [`https://127.0.0.1:${port}/`, 'its host has an address that is not public'],
    [`https://0x7f000001:${port}/`, 'its host has an address that is not public'],
    [`https://[::ffff:127.0.0.1]:${port}/`, 'its host has an address that is not public'],
    ['https://169.254.169.254/latest/meta-data/', 'its host has an address that is not public'],
    [`https://localhost:${port}/`, 'its host is a name of the local network'],
    ['https://api.berth.example/', 'its host is this service itself'],
    ['https://user:pass@hooks.example.com/', 'it must not hold a user name or password'],
    ['https://inside.example.com/', 'its host has an address that is not public'],
    ['https://mixed.example.com/', 'its host has an address that is not public'],
    ['ftp://hooks.example.com/', 'it must begin with https://'],
    ['https://999.1.1.1/', 'it cannot be read as a web address'],
  ])('is rejected: %s', async (url, reason) => {
    const customer = await app.given.customer()
    const refusal = { status: 422, body: { success: false, error: `This URL may not be called: ${reason}` } }
    const created = await customer.post('/webhooks', { url, events: ['vm.started'] })
    expect(created).toMatchObject({ ...refusal, headers: { 'x-error-code': 'url_not_allowed' } })
    const { data } = (await customer.post('/webhooks', { url: 'https://hooks.example.com/', events: ['vm.started'] })).body
    expect(await customer.patch(`/webhooks/${data.id}`, { url })).toMatchObject(refusal)
    expect((await customer.get('/webhooks')).body.data).toMatchObject([{ url: 'https://hooks.example.com/' }])
  })

  test('is rejected in each of fifty spellings without a connection', async () => {
    const customer = await app.given.customer()
    const create = (host: string) => customer.post('/webhooks', { url: `https://${host}:${port}/`, events: ['vm.started'] })
    const accepted: string[] = []
    for (const host of GUISES) {
      const { status } = await create(host)
      if (status !== 422 && status !== 400) accepted.push(`${host}: ${status}`)
    }
    expect(GUISES.length).toBeGreaterThanOrEqual(50)
    expect(accepted).toEqual([])
    expect((await create('hooks.example.com')).status).toBe(201)
    expect(connections).toBe(0)
  })

  test.each(['https://example.com\\@127.0.0.1/', 'https://１２７.０.０.１/', ' https://127.0.0.1/', 'https://12\t7.0.0.1/'])(
    'is not a valid URI: %j',
    async (url) => {
      const customer = await app.given.customer()
      expect((await customer.post('/webhooks', { url, events: ['vm.started'] })).status).toBe(400)
    },
  )

  test('is not connected to after DNS rebinding', async () => {
    const customer = await app.given.customer()
    const url = `https://rebind.example.com:${port}/`
    const { status, body } = await customer.post('/webhooks', { url, events: ['vm.started'] })
    expect(status).toBe(201)
    await app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(customer.accountId)))
    await deliverAllDue(app.deps)
    const path = `/webhooks/${body.data.id}`
    expect((await customer.get(`${path}/deliveries`)).body.data).toMatchObject([
      { status: 'PENDING', error: 'its host has an address that is not public' },
    ])
    expect((await customer.post(`${path}/test`)).body.data.message).toBe(
      'The test event was not delivered: its host has an address that is not public',
    )
    expect(connections).toBe(0)
  })

  test('is not called when it was stored while private hosts were allowed', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/webhooks', { url: 'https://hooks.example.com/', events: ['vm.started'] })).body.data
    await app.db.run(sql`update webhooks set url = ${`http://127.0.0.1:${port}/`} where id = ${id}`)
    expect((await customer.post(`/webhooks/${id}/test`)).body.data.message).toBe(
      'The test event was not delivered: the URL may not be called: it must begin with https://',
    )
    expect(connections).toBe(0)
  })

  test('reports missing fields before the URL check', async () => {
    const customer = await app.given.customer()
    expect((await customer.patch('/webhooks/cunknown1', { url: 'http://127.0.0.1/' })).status).toBe(404)
  })
})
