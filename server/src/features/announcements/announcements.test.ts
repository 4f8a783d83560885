import { expect, test } from 'vitest'
import { givenBrowser, PASSWORD } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
const [operator, user] = [await givenBrowser(app, { isOperator: true }), await givenBrowser(app)]
const [ada, bob] = [await app.given.customer({ credit: '100.00' }), await app.given.customer()]
await app.given.vm(ada)
const at = (after: string): string => addDuration(app.clock.now(), after).toISOString()
const seenBy = async (customer: typeof ada) => (await customer.get('/announcements')).body.data.map(({ text }: { text: string }) => text)

test('is shown to everybody, or to those who have something in the region, from its beginning to its end', async () => {
  const all = await operator.post('/operator/announcements', { level: 'INFO', text: 'A new region opens.', endsAt: at('2h') })
  expect([all.status, all.body.data]).toEqual([201, expect.objectContaining({ state: 'SHOWN', region: null, regionId: null })])
  const { id: regionId } = await app.db.one<{ id: string }>(sql`select id from regions where slug = 'fra1'`)
  const inRegion = await operator.post('/operator/announcements', { level: 'CRITICAL', text: 'Fibre cut in Frankfurt', region: 'fra1' })
  expect(inRegion.body.data).toMatchObject({ region: 'fra1', regionId, endsAt: null })
  await operator.post('/operator/announcements', { level: 'WARNING', text: 'Tomorrow', startsAt: at('1h') })
  expect([await seenBy(ada), await seenBy(bob)]).toEqual([['Fibre cut in Frankfurt', 'A new region opens.'], ['A new region opens.']])
  app.clock.advance('1h')
  expect(await seenBy(bob)).toEqual(['Tomorrow', 'A new region opens.'])
  app.clock.advance('1h')
  expect(await seenBy(bob)).toEqual(['Tomorrow'])
  const { id } = inRegion.body.data
  expect((await operator.delete(`/operator/announcements/${id}`)).body.data.state).toBe('WITHDRAWN')
  expect(await seenBy(ada)).toEqual(['Tomorrow'])
  expect((await operator.delete(`/operator/announcements/${id}`)).status).toBe(409)
  const states = (await operator.get('/operator/announcements')).body.data.map(({ state }: { state: string }) => state)
  expect(states.toSorted()).toEqual(['OVER', 'SHOWN', 'WITHDRAWN'])
})

test('is plain text of an operator', async () => {
  await operator.post('/reauthenticate', { password: PASSWORD })
  const refused = await Promise.all([
    operator.post('/operator/announcements', { level: 'INFO', text: ' ' }),
    operator.post('/operator/announcements', { level: 'INFO', text: 'a\u001b[2J' }),
    operator.post('/operator/announcements', { level: 'LOUD', text: 'Hello' }),
    operator.post('/operator/announcements', { level: 'INFO', text: 'Hello', endsAt: new Date(0).toISOString() }),
    operator.post('/operator/announcements', { level: 'INFO', text: 'Hello', region: 'nowhere' }),
    operator.delete('/operator/announcements/cnowhere1'),
    user.post('/operator/announcements', { level: 'INFO', text: 'Hello' }),
    user.get('/operator/announcements'),
  ])
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 404, 404, 403, 403])
})
