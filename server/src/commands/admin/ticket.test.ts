import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { sql } from '../../kernel/database/db.ts'

describe('berthd ticket', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
  const customer = await app.given.customer()

  test('lists, shows, answers and closes tickets', async () => {
    const { id } = (await customer.post('/tickets', { subject: 'Odd', body: 'First line' })).body.data
    const odd = { subject: 'Odd \u202etxt', body: 'First line\nsecond \u2067line' } // of an older release, which took such characters
    await app.db.run(sql`update tickets set subject = ${odd.subject}, body = ${odd.body} where id = ${id}`)
    const listed = await berthdJson<{ id: string }[]>(settings, 'ticket', 'list', '--status', 'open', '--account', customer.email)
    expect(listed).toMatchObject([{ id, account: customer.email, status: 'OPEN' }])
    const replied = await berthdJson(settings, 'ticket', 'reply', id, '--body', 'Done', '--close')
    expect(replied).toMatchObject({ ticket: { status: 'CLOSED', replyCount: 1 }, reply: { author: 'staff', body: 'Done' } })
    const shown = await berthd(settings, 'ticket', 'show', id)
    expect(shown.stdout).toContain(`${id} · CLOSED · Odd \ufffdtxt\n`)
    expect(shown.stdout).toContain('First line\nsecond \ufffdline\n')
    expect(shown.stdout).toMatch(/staff, \S+:\nDone\n$/)
    const closed = await berthd(settings, 'ticket', 'close', id)
    expect([closed.code, closed.stdout]).toEqual([0, `Ticket ${id} is CLOSED and has 1 reply\n`])
    expect((await customer.get('/events')).body.data.map(({ type }: { type: string }) => type)).toEqual(['ticket.reply', 'ticket.closed'])
  })

  test('reports an unknown ticket and an invalid status', async () => {
    const [unknown, status] = await Promise.all([
      berthd(settings, 'ticket', 'show', 'cnowhere1'),
      berthd(settings, 'ticket', 'list', '--status', 'x'),
    ])
    expect([unknown.code, unknown.stderr]).toEqual([1, 'Ticket not found\n'])
    expect([status.code, status.stderr]).toEqual([2, '--status must be one of OPEN, ANSWERED, CLOSED\n'])
  })

  test('is recorded in the audit log, as other commands are', async () => {
    const account = ['--account', customer.accountId]
    await berthdJson(settings, 'account', 'credit', ...account, '--amount', '5.00')
    await berthdJson(settings, 'account', 'limit', ...account, '--name', 'vms', '--value', '3')
    const { id } = await berthdJson(settings, 'token', 'create', ...account, '--name', 'spare', '--scopes', '*')
    await berthdJson(settings, 'token', 'revoke', id!, '--yes')
    await berthdJson(settings, 'token', 'delete', id!, '--yes')
    const log = (await customer.get('/audit-log?limit=100')).body.data as { action: string; actor: { type: string }; resourceId: string }[]
    const actions = log.filter(({ actor }) => actor.type === 'operator').map(({ action }) => action)
    const expected = ['account credit', 'account limit', 'ticket close', 'ticket reply', 'token create', 'token delete', 'token revoke']
    expect(actions.toSorted()).toEqual(expected)
    expect(log.find(({ action }) => action === 'token revoke')).toMatchObject({ resourceId: id })
  })
})
