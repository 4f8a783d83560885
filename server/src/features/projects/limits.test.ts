import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { codeOf, key, projectFixture } from '../../../test/project-fixture.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { REFUSALS_PER_HOUR } from '../audit-log/audit-trail.ts'

const app = await testApp()
const { company } = projectFixture(app)

describe('the limits of an account', () => {
  test('are those of its projects too, together', async () => {
    const { payer, project } = await company('1000.00')
    const other = await app.given.project(payer, 'other')
    await app.db.run(sql`insert into account_quotas (account_id, name, limit_override) values (${payer.accountId}, 'ssh_keys', 3)`)
    for (const who of [payer, project, other]) expect((await who.post('/ssh-keys', key())).status).toBe(201)
    for (const who of [payer, project, other]) expect(codeOf(await who.post('/ssh-keys', key()))).toEqual([422, 'quota_exceeded'])
    const limit = ((await project.get('/account/limits')).body.data as { name: string }[]).find(({ name }) => name === 'sshKeys')
    expect(limit).toEqual({ name: 'sshKeys', limit: 3, used: 3 })
    const [{ id }] = (await other.get('/ssh-keys')).body.data as [{ id: string }]
    expect((await other.delete(`/ssh-keys/${id}`)).status).toBe(200)
    expect((await payer.post('/ssh-keys', key())).status).toBe(201)
  })

  test('hold among 100 requests at once in four projects and the account', async () => {
    const payer = await app.given.customer({ credit: '1000.00' })
    const all = [payer, ...(await Promise.all(['a', 'b', 'c', 'd'].map((name) => app.given.project(payer, name))))]
    const order = await app.given.vmInput()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => all[i % 5]!.post('/vms', { ...order, hostname: `vm-${i}` })))
    expect([202, 422].map((status) => answers.filter((answer) => answer.status === status).length)).toEqual([10, 90])
    const { count } = await app.db.one<{ count: number }>(sql`
      select count(*)::int as count from vms v join accounts a on a.id = v.account_id where ${payer.accountId} in (a.id, a.payer_account_id)`)
    expect([count, (await payer.get('/wallet')).body.data.balance]).toEqual([10, '940.00'])
  })

  test('leave no wallet below zero among 100 requests at once', async () => {
    const payer = await app.given.customer({ credit: '26.00' })
    const all = [payer, ...(await Promise.all(['a', 'b', 'c', 'd'].map((name) => app.given.project(payer, name))))]
    const order = await app.given.vmInput()
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => all[i % 5]!.post('/vms', { ...order, hostname: `vm-${i}` })))
    expect([202, 402].map((status) => answers.filter((answer) => answer.status === status).length)).toEqual([4, 96])
    expect((await payer.get('/wallet')).body.data.balance).toBe('2.00')
  })

  test('are for Idempotency-Keys, event streams, consoles and entries of the audit log those of all projects together, and leave the payer its own', async () => {
    const { payer, project } = await company('1000.00')
    const other = await app.given.project(payer, 'other')
    const now = app.clock.now()
    const [withKey, full] = [{ 'idempotency-key': 'new' }, [422, 'too_many_idempotency_keys']]
    await app.db.run(sql`
      insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
      select ${other.accountId}, 'old-' || n, '', 200, '', ${now}, ${addDuration(now, '1h')} from generate_series(1, 50000) n`)
    for (const who of [project, other]) expect(codeOf(await who.post('/ssh-keys', key(), withKey))).toEqual(full)
    expect((await payer.post('/ssh-keys', key(), withKey)).status).toBe(201)
    await app.db.run(sql`delete from idempotency_keys where account_id = ${other.accountId}`)

    const stopping = new AbortController()
    const open = (accountId: string) => app.deps.feed.stream({ accountId, payerId: payer.accountId }, '0', stopping.signal)
    for (let i = 0; i < 10; i++) (await open((i % 2 === 0 ? other : project).accountId)).resume()
    for (const who of [project, other]) await expect(open(who.accountId)).rejects.toThrow(/10 event streams/)
    for (let i = 0; i < 10; i++) (await open(payer.accountId)).resume()
    await expect(open(payer.accountId)).rejects.toThrow(/10 event streams/)
    stopping.abort()

    const [{ id }, { id: ofPayer }] = [await app.given.vm(project), await app.given.vm(payer)]
    for (let i = 0; i < 5; i++) {
      const { id: vmId } = await app.given.vm(other, { hostname: `vm-${i}` })
      await app.db.run(sql`
        insert into console_sessions (vm_id, type, id, account_id, opened_at, alive_until)
        select ${vmId}, type, type || ${vmId}, ${other.accountId}, ${now}, ${addDuration(now, '1h')} from unnest(array['serial', 'vnc']) type`)
    }
    expect(codeOf(await project.post(`/vms/${id}/console`, { type: 'serial' }))).toEqual([422, 'quota_exceeded'])
    expect((await payer.post(`/vms/${ofPayer}/console`, { type: 'serial' })).status).toBe(201)

    const denied = async (who: Pick<typeof payer, 'get'>) => {
      const entries = (await who.get('/audit-log')).body.data as { errorCode: string | null }[]
      return entries.filter(({ errorCode }) => errorCode === 'not_found').length
    }
    for (let i = 0; i < REFUSALS_PER_HOUR + 1; i++) await other.delete('/vms/none')
    for (const who of [payer, project]) await who.delete('/vms/none')
    await app.deps.audit.sweep()
    expect(await denied(payer)).toBe(1)
    expect(await denied(project)).toBe(0)
  })

  test('are for invitations those of the account and its projects together', async () => {
    const { payer, project, owner } = await company()

    const invite = (accountId: string, n: number) => {
      owner.choose(accountId)
      return owner.post('/v1/invitations', { email: `guest${n}@example.net`, role: 'billing' })
    }
    for (let i = 0; i < 30; i++) expect((await invite(i % 2 === 0 ? payer.accountId : project.accountId, i)).status).toBe(201)
    for (const accountId of [payer.accountId, project.accountId]) expect(codeOf(await invite(accountId, 99))).toEqual([429, 'rate_limited'])
  })
})
