import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { GB } from '../../../test/traffic.ts'

describe('the traffic of an upgraded VM', async () => {
  const app = await testApp()
  const { turn, toRenewal } = await billingFixture(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const planId = (slug: string) => plans.find((plan) => plan.slug === slug)!.id
  const capGb = async (id: string): Promise<number> => {
    const all = (await customer.get('/bandwidth')).body.data as { vmId: string; capBytes: string }[]
    return Number(all.find(({ vmId }) => vmId === id)!.capBytes) / GB
  }
  const on = (day: number) => app.clock.set(new Date(Date.UTC(2027, 3, day)))
  const upgrade = async (id: string, slug: string): Promise<void> => {
    expect((await customer.post(`/vms/${id}/upgrade`, { planId: planId(slug) })).status).toBe(202)
    await app.settle()
  }

  test('grows by the share of the period that is left, and is whole from the next renewal', async () => {
    on(1)
    const { id } = await app.given.vm(customer, { planId: planId('small') })
    on(21) // a third of 30 days is left
    await upgrade(id, 'large')
    expect(await capGb(id)).toBe(2_000 + 3_000 / 3)
    on(26)
    await upgrade(id, 'xlarge')
    expect(await capGb(id)).toBe(2_000 + 3_000 / 3 + 3_000 / 6)
    await toRenewal(customer, id)
    await turn()
    expect(await capGb(id)).toBe(8_000)
  })

  test('is what it was after an upgrade that failed', async () => {
    on(1)
    const { id } = await app.given.vm(customer, { planId: planId('nano') })
    on(16)
    await upgrade(id, 'small')
    await app.simulated.faults.plant({ verb: 'ensureDefined', kind: 'permanent' })
    await upgrade(id, 'large')
    expect(await capGb(id)).toBe(1_500)
  })
})
