import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { connectTo } from '../../../test/console-client.ts'
import { deposit } from '../../../test/deposit.ts'
import { testApp } from '../../../test/harness.ts'
import { sampleEvent } from '../../../test/sample-event.ts'
import { sql } from '../../kernel/database/db.ts'
import { recordEvent } from '../events/service.ts'

const SOON = { timeout: 10_000 }
const app = await testApp()
await app.app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.app.server.address() as AddressInfo

async function listen(cookie: string | undefined, account?: string) {
  const named = account && { 'x-account-id': account }
  const headers = { accept: 'text/event-stream, application/problem+json', cookie, 'sec-fetch-site': 'same-origin', ...named }
  const request = get({ host: '127.0.0.1', port, path: '/api/dashboard/v1/events', headers })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream'])
  let text = ''
  response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('error', () => {})
  await expect.poll(() => text, SOON).toContain('retry: 2000')
  return { response, text: () => text, cut: () => void request.destroy() }
}

const happen = (accountId: string) => app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(accountId, 'vm.created')))

test('a browser session receives events as a stream', async () => {
  const { person: user, cookie } = await givenBrowser(app)
  const stream = await listen(cookie())
  await happen(user.accountId)
  await expect.poll(stream.text, SOON).toContain('event: vm.created')
  stream.cut()
})

test('the event stream does not extend the session, and stops when it ends', async () => {
  const { person: user, cookie, get: read } = await givenBrowser(app)
  const stream = await listen(cookie())
  app.clock.advance('23h')
  await happen(user.accountId)
  await expect.poll(stream.text, SOON).toContain('event: vm.created')
  expect((await read('/v1/events?after=0')).status).toBe(200)
  app.clock.advance('1h')
  const ended = once(stream.response, 'end')
  await happen(user.accountId)
  await ended
  expect(stream.text().match(/event: vm.created/g)).toHaveLength(1)
  expect((await read('/session')).status).toBe(401)
})

test.each([
  ['is removed from the account', sql`delete from members where role = 'operator'`],
  ['may no longer read events', sql`update members set role = 'custom', scopes = '{vms:read}' where role = 'operator'`],
])('the event stream stops when its member %s', async (_, change) => {
  const { person: owner } = await givenBrowser(app)
  const member = await givenMember(app, owner.accountId, 'operator')
  const stream = await listen(member.cookie(), owner.accountId)
  await happen(owner.accountId)
  await expect.poll(stream.text, SOON).toContain('event: vm.created')
  await app.db.run(change)
  const ended = once(stream.response, 'end')
  app.clock.advance('1h')
  await happen(owner.accountId)
  await ended
  expect(stream.text().match(/event: vm.created/g)).toHaveLength(1)
})

test('a VM console opens for a browser session, and not for a cross-site page', async () => {
  const browser = await givenBrowser(app)
  await deposit(app.deps, browser.person.accountId, 100_00n)
  const made = await browser.post('/v1/vms', await app.given.vmInput())
  const { id } = made.body.data.vm as { id: string }
  expect((await browser.get(made.headers['location']!)).body.data).toMatchObject({ vmId: id, action: 'CREATE' })
  await app.settle({ subjectId: id })
  const link = async (): Promise<string> => {
    const { body } = await browser.post(`/v1/vms/${id}/console`, { type: 'serial' })
    return new URL(body.data.url as string).pathname
  }
  const client = connectTo(`ws://127.0.0.1:${port}${await link()}`, { origin: `http://127.0.0.1:${port}` })
  expect(await client.opened).toBe(true)
  await expect.poll(client.text, SOON).toContain('login: ')
  client.socket.terminate()
  const foreign = connectTo(`ws://127.0.0.1:${port}${await link()}`, { origin: 'https://evil.example' })
  expect((await foreign.refused).code).toBe('origin_not_allowed')
})
