import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { changePlan, listPlans } from './service.ts'

test('GET /plans calls a plan available only where a host is large enough for it', async () => {
  const app = await testApp()
  const customer = await app.given.customer()
  const available = async (): Promise<string[]> =>
    ((await customer.get('/plans')).body.data as { slug: string; available: boolean }[])
      .filter((each) => each.available)
      .map(({ slug }) => slug)
  const all = await available()
  const [large] = await app.db.many<{ slug: string; ram_mib: number }>(sql`select slug, ram_mib from plans order by ram_mib desc limit 1`)
  expect(all).toContain(large!.slug)
  await app.db.run(sql`update hosts set ram_total_mib = ${large!.ram_mib - 1}`)
  expect(await available()).toEqual(all.filter((slug) => slug !== large!.slug))
  expect((await listPlans(app.db, 'USD')).find(({ slug }) => slug === large!.slug)).toMatchObject({ available: true }) // still on sale
  await app.db.run(sql`update hosts set ram_total_mib = ${large!.ram_mib}`)
  expect(await available()).toEqual(all)
  await app.db.run(sql`update plans set region_slugs = array['elsewhere'] where slug = ${large!.slug}`)
  expect(await available()).not.toContain(large!.slug)
  await app.db.run(sql`update plans set region_slugs = null`)
  await app.db.tx((tx) => changePlan(tx, large!.slug, { traits: ['gpu'] }))
  expect(await available()).not.toContain(large!.slug)
  await app.db.run(sql`update hosts set traits = '{gpu}'`)
  expect(await available()).toEqual(all)
  await app.db.tx((tx) => changePlan(tx, large!.slug, { dedicatedCpu: true }))
  expect(await available()).not.toContain(large!.slug)
  const { vcpu } = (await listPlans(app.db, 'USD')).find(({ slug }) => slug === large!.slug)!
  const dedicate = (node: number) =>
    app.db.run(sql`
      update hosts set vcpu_total = 64, dedicated_cpus = array(select generate_series(1, ${vcpu})), cpu_nodes = array_fill(0, array[${vcpu}::int]) || array_fill(${node}::int, array[40])`)
  await dedicate(1)
  expect(await available()).not.toContain(large!.slug) // the last one is of another NUMA node
  await dedicate(0)
  expect(await available()).toEqual(all)
  await app.db.run(sql`update regions set available = false`)
  expect(await available()).toEqual([])
})
