// Requests and workers of the same instant that confirm, undo, change and delete: each change has exactly one outcome.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { undoUnconfirmed } from './undo.reconciler.ts'

const app = await testApp()
const accept = (port: string) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port })

/** Its rules were 1, and are 2 unless nobody confirms them. */
const given = async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = (await customer.post('/firewalls', { name: 'web' })).body.data
  const path = `/firewalls/${id}`
  await customer.put(`${path}/rules`, { rules: [accept('1')] })
  await customer.put(`${path}/rules`, { rules: [accept('2')], confirmWithinSeconds: 30 })
  const get = async () => (await customer.get(path)).body.data
  const { rulesVersion: basedOn } = await get()
  const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status
  return {
    id,
    get,
    ports: async (): Promise<string[]> => (await customer.get(`${path}/rules`)).body.data.map(({ port }: { port: string }) => port),
    undone: async (): Promise<string[]> =>
      (await customer.get('/events?limit=100')).body.data
        .filter(({ type }: { type: string }) => type === 'firewall.rules_undone')
        .map(({ data }: { data: { reason: string } }) => data.reason),
    undo: () => statusOf(customer.post(`${path}/undo`, { basedOn })),
    confirm: () => statusOf(customer.post(`${path}/confirm`, { basedOn })),
    edit: (port: string) => statusOf(customer.put(`${path}/rules`, { rules: [accept(port)], basedOn })),
    remove: () => statusOf(customer.delete(path)),
  }
}

const countOf = (statuses: number[], wanted: number): number => statuses.filter((status) => status === wanted).length
const work = () => undoUnconfirmed.runOnce(app.deps)
const ROUNDS = Array.from({ length: 8 }, (_, round) => round)

describe('an unconfirmed change of firewall rules', () => {
  test('is confirmed once', async () => {
    const { confirm, get } = await given()
    const statuses = await Promise.all([confirm(), confirm(), confirm(), confirm()])
    expect([countOf(statuses, 200), countOf(statuses, 409)]).toEqual([1, 3])
    expect((await get()).confirmBy).toBeNull()
  })

  test('is undone once, by whom or by what it may be', async () => {
    const { undo, ports, undone } = await given()
    app.clock.advance('30s')
    const [, , ...statuses] = await Promise.all([work(), work(), undo(), undo(), undo()])
    expect(countOf(statuses, 200)).toBeLessThan(2)
    expect(await undone()).toEqual([countOf(statuses, 200) === 1 ? 'REQUESTED' : 'UNCONFIRMED'])
    expect(await ports()).toEqual(['1'])
  })

  test.each(ROUNDS)('is either confirmed or undone by itself (%i)', async () => {
    const { confirm, ports, undone, get } = await given()
    app.clock.advance('30s')
    const [, status] = await Promise.all([work(), confirm(), work()])
    expect([status, await ports(), await undone()]).toEqual(status === 200 ? [200, ['2'], []] : [409, ['1'], ['UNCONFIRMED']])
    expect((await get()).confirmBy).toBeNull()
  })

  test.each(ROUNDS)('goes back by one change, whatever edits come (%i)', async () => {
    const { confirm, edit, undo, ports } = await given()
    const [confirmed, edited, other, undone] = await Promise.all([confirm(), edit('3'), edit('4'), undo()])
    const edits = countOf([edited, other], 200)
    // An edit needs the confirmation and the rules that it knows, and so does the undo, unless nothing was confirmed.
    const later = edits + countOf([undone], 200)
    expect(confirmed === 200 ? later <= 1 : edits === 0 && undone === 200).toBe(true)
    expect(await ports()).toEqual([edited === 200 ? '3' : other === 200 ? '4' : undone === 200 ? '1' : '2'])
    const again = await undo()
    expect([again, await ports()]).toEqual(
      edits === 0 && undone !== 200 ? [200, ['1']] : [409, [edited === 200 ? '3' : other === 200 ? '4' : '1']],
    )
  })

  test.each(ROUNDS)('goes with its firewall (%i)', async () => {
    const { id, remove, undo, confirm } = await given()
    app.clock.advance('30s')
    const [status, , ...others] = await Promise.all([remove(), work(), undo(), confirm(), work()])
    expect(status).toBe(200)
    expect(others.slice(0, 2).every((each) => each === 200 || each === 404 || each === 409)).toBe(true)
    const left = await app.db.raw('select from firewall_undos where firewall_id = $1', [id])
    expect(left.rows).toEqual([])
    expect(await undo()).toBe(404)
  })
})
