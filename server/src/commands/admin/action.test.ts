import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { sql } from '../../kernel/database/db.ts'

describe('berthd action', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
  const customer = await app.given.customer({ credit: '100.00' })

  test('lists pending actions, retries one immediately and shows its steps', async () => {
    const { id: vmId, actionId } = await app.given.vm(customer, {}, { settled: false })
    const later = new Date(app.clock.now().getTime() + 3_600_000)
    await app.db.run(sql`update workflow_runs set next_attempt_at = ${later} where id = ${actionId}`)
    const listed = await berthdJson(settings, 'action', 'list', '--status', 'PENDING', '--vm', vmId, '--account', customer.email)
    expect(listed).toMatchObject([{ id: actionId, action: 'CREATE', status: 'PENDING', nextAttemptAt: later.toISOString() }])
    const retried = await berthd(settings, 'action', 'retry', actionId)
    expect([retried.code, retried.stdout]).toEqual([0, `Action ${actionId} is being retried\n`])
    await app.settle()
    const shown = await berthd(settings, 'action', 'show', actionId)
    expect(shown.stdout).toContain(`${actionId} · CREATE · COMPLETED\naccount ${customer.email}\nVM ${vmId}\n`)
    expect(shown.stdout).toMatch(/^boot +COMPLETED +1 /m)
  })

  test('reports invalid input', async () => {
    const { actionId } = await app.given.vm(customer)
    const [unknown, over, none, misspelt] = await Promise.all([
      berthd(settings, 'action', 'show', 'cnowhere1'),
      berthd(settings, 'action', 'retry', actionId),
      berthd(settings, 'action', 'list', '--cleanup-failed'),
      berthd(settings, 'action', 'list', '--status', 'FAILD'),
    ])
    expect([unknown.code, unknown.stderr]).toEqual([1, 'Action not found\n'])
    expect([over.code, over.stderr]).toEqual([1, 'This action has ended as COMPLETED: order it again instead\n'])
    expect([misspelt.code, misspelt.stderr]).toEqual([2, expect.stringContaining('Allowed choices are PENDING')])
    expect([none.code, none.stdout]).toEqual([0, 'No matching actions\n'])
  })
})
