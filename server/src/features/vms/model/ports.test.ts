import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { sql } from '../../../kernel/database/db.ts'
import { applyPorts } from '../reconcilers/apply-ports.reconciler.ts'
import { getVmRow } from './machine-spec.ts'
import { portSpecs } from './ports.ts'

describe('the limit of a VM', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const network = async (cidr: string, enableSnat: boolean) =>
    (await customer.post('/networks', { name: cidr, nodeId: app.host.id, cidr, enableSnat })).body.data.id as string
  const specsOf = async (vmId: string) => portSpecs(app.db, await getVmRow(app.db, vmId))
  const isApplied = async (vmId: string) =>
    (
      await app.db.one<{ applied: boolean }>(
        sql`select applied_version is not distinct from desired_version as applied from vm_ports where vm_id = ${vmId}`,
      )
    ).applied

  test('counts what its private interfaces send out of networks with SNAT', async () => {
    const [way, dead] = [await network('10.9.1.0/24', true), await network('10.9.2.0/24', false)]
    const { id } = await app.given.vm(customer, { privateNetworkIds: [dead, way] })
    const [open, ...others] = await specsOf(id)
    const { mac } = others.find(({ networkId }) => networkId === way)!
    expect(open).toMatchObject({ networkId: null, limitMbps: 1000, limitedWith: [{ mac, networkId: way }] })
    expect(others.map(({ limitMbps }) => limitMbps)).toEqual([null, null])
  })

  test.each([
    ['attach', '10.9.3.0/24'],
    ['detach', '10.9.4.0/24'],
  ])('is applied again after %s', async (verb, cidr) => {
    const way = await network(cidr, true)
    const { id } = await app.given.vm(customer, verb === 'attach' ? {} : { privateNetworkIds: [way] })
    const path = `/vms/${id}/networks`
    const answer = await (verb === 'attach' ? customer.post(path, { networkId: way }) : customer.delete(`${path}/${way}`))
    expect(answer.status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await isApplied(id)).toBe(false)
    expect((await specsOf(id))[0]!.limitedWith).toHaveLength(verb === 'attach' ? 1 : 0)
    await applyPorts.runOnce(app.deps)
    expect(await isApplied(id)).toBe(true)
  })
})
