import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { givenBrowser, givenMember } from '../../../test/browser.ts'
import { connectTo, TIMEOUT } from '../../../test/console-client.ts'
import { deposit } from '../../../test/deposit.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { deleteToken, revokeToken } from '../accounts/service.ts'
import { unmanage } from '../vms/service.ts'
import { LIMITS } from './bridge.ts'
import { pruneConsoles } from './prune.reconciler.ts'
import { openSessions } from './sessions.ts'

describe('a session whose end was not notified', async () => {
  const app = await testApp()
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const sessions = await openSessions(app.deps, LIMITS, 20)
  afterAll(async () => {
    await sessions.close()
    server.close()
  })

  const revoke = (tokenId: string) => app.db.tx((tx) => revokeToken(tx, app.clock.now(), tokenId))
  const remove = (tokenId: string) => app.db.tx((tx) => deleteToken(tx, tokenId))

  const opened = async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    const token = await app.given.token(customer.accountId)
    return { vmId: id, customer, token, ...(await openedBy(token, id)) }
  }

  const openedBy = async (who: Pick<Awaited<ReturnType<typeof givenBrowser>>, 'post'>, vmId: string, mount = '') => {
    const { body } = await who.post(`${mount}/vms/${vmId}/console`, { type: 'serial' })
    const session = await sessions.open((body.data.url as string).split('/').at(-1)!)
    const accepted = once(server, 'connection') as Promise<[WebSocket]>
    const client = connectTo(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const [socket] = await accepted
    sessions.carry(session, socket)
    await expect.poll(client.text, TIMEOUT).toContain('login:')
    return { client }
  }

  test('ends when its VM becomes unmanaged and keeps running', async () => {
    const { vmId, client } = await opened()
    await app.db.tx((tx) => unmanage(tx, app.deps, vmId))
    expect(await client.closed).toMatchObject({ code: 4001 })
  })

  test('ends when the notification of a newer session was lost', async () => {
    const { vmId, client } = await opened()
    await app.db.run(sql`update console_sessions set id = 'cnewer1' where vm_id = ${vmId}`)
    expect(await client.closed).toMatchObject({ code: 4002 })
    expect(await app.db.many(sql`select from console_sessions where vm_id = ${vmId}`)).toHaveLength(1)
    app.clock.advance('61s')
    await pruneConsoles.runOnce(app.deps)
    expect(await app.db.many(sql`select from console_sessions where vm_id = ${vmId}`)).toEqual([])
  })

  test.each([
    ['is removed from the account', sql`delete from members where role = 'operator'`],
    ['may no longer open consoles', sql`update members set role = 'billing' where role = 'operator'`],
    ['lacks the two-factor authentication that the account now requires', sql`update accounts set requires_totp = true`],
  ])('ends when the member who opened it %s', async (_, change) => {
    const { vmId, customer } = await opened()
    const member = await givenMember(app, customer.accountId, 'operator')
    const { client } = await openedBy(member, vmId, '/v1')
    await app.db.run(change)
    expect(await client.closed).toMatchObject({ code: 4008 })
  })

  test('ends when the token that opened it is revoked', async () => {
    const { token, client } = await opened()
    await revoke(token.id)
    expect(await client.closed).toMatchObject({ code: 4008 })
  })

  test('ends when the token that opened it is deleted', async () => {
    const { token, client } = await opened()
    await remove(token.id)
    expect(await client.closed).toMatchObject({ code: 4008 })
  })

  test('ends when the user who opened it signs out', async () => {
    const browser = await givenBrowser(app)
    await deposit(app.deps, browser.person.accountId, 100_00n)
    const { vm } = (await browser.post('/v1/vms', await app.given.vmInput())).body.data as { vm: { id: string } }
    await app.settle({ subjectId: vm.id })
    const { client } = await openedBy(browser, vm.id, '/v1')
    await browser.post('/sign-out')
    expect(await client.closed).toMatchObject({ code: 4008 })
  })

  test('continues while its VM and its credential are valid', async () => {
    const { vmId, client } = await opened()
    const aliveUntil = async () =>
      (await app.db.one<{ at: Date }>(sql`select alive_until as at from console_sessions where vm_id = ${vmId}`)).at
    const first = await aliveUntil()
    app.clock.advance('30s')
    await expect.poll(async () => (await aliveUntil()) > first, TIMEOUT).toBe(true)
    expect(client.socket.readyState).toBe(WebSocket.OPEN)
    client.socket.terminate()
  })

  test.each([
    ['revoked', revoke],
    ['deleted', remove],
  ])('cannot be opened with a token that was %s meanwhile', async (_, end) => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    const { body } = await customer.post(`/vms/${id}/console`, { type: 'serial' })
    await end(customer.tokenId)
    await expect(sessions.open((body.data.url as string).split('/').at(-1)!)).rejects.toThrow(
      'The API token or the session that asked for this console URL is no longer valid',
    )
  })
})
