import { expect, test } from 'vitest'
import { changeTo, create, soon, unknownId, type ConformanceContract } from './fixture.ts'

export const cpuContract: ConformanceContract = (fixture) => {
  const cpusOf = async (vmId: string) => (await fixture().driver.findMachine(vmId, soon(fixture())))?.cpus
  const lastCpu = async () => (await fixture().driver.facts(soon(fixture()))).vcpu - 1

  test('a machine with CPUs of its own runs on them alone, also after it was started again with others', async () => {
    const last = await lastCpu()
    const spec = await create(fixture(), fixture().spec({ cpus: { cpus: [last], numaNode: 0 } }))
    expect([await cpusOf(spec.vmId), await fixture().guest.affinity(spec.vmId)]).toEqual([spec.cpus, String(last)])
    const other = { ...spec, cpus: { cpus: [0], numaNode: 0 } }
    await changeTo(fixture(), other)
    expect([await cpusOf(spec.vmId), await fixture().guest.affinity(spec.vmId)]).toEqual([other.cpus, '0'])
  })

  test('a machine with CPUs of its own that grows while it runs gets one for each new vCPU, and loses it with the vCPU', async () => {
    const last = await lastCpu()
    const spec = await create(fixture(), fixture().spec({ ramMiB: 4096, cpus: { cpus: [last], numaNode: 0 } }))
    const { room } = (await fixture().driver.findMachine(spec.vmId, soon(fixture())))!
    if (room.vcpu < 2) return
    const larger = { ...spec, vcpu: 2, ramMiB: 4608, cpus: { cpus: [last, 0], numaNode: 0 } }
    expect(await fixture().driver.ensureLiveSize(larger, soon(fixture()))).toEqual({ vcpu: 2, ramMiB: 4608, guestReason: null })
    expect(await cpusOf(spec.vmId)).toEqual(larger.cpus)
    const { vcpu } = await fixture().driver.ensureLiveSize(spec, soon(fixture()))
    expect(await cpusOf(spec.vmId)).toEqual(vcpu === 1 ? spec.cpus : larger.cpus)
  })

  test('a machine that shares its CPUs is kept off the others, and moved to others while it runs', async () => {
    const last = await lastCpu()
    const spec = await create(fixture(), fixture().spec({ cpus: { cpus: [0], numaNode: null } }))
    expect([await cpusOf(spec.vmId), await fixture().guest.affinity(spec.vmId)]).toEqual([spec.cpus, '0'])
    const set = { cpus: [last], numaNode: null }
    await Promise.all([fixture().driver, fixture().other].map((driver) => driver.ensureCpus(spec.vmId, set, soon(fixture()))))
    expect([await cpusOf(spec.vmId), await fixture().guest.affinity(spec.vmId)]).toEqual([set, String(last)])
    await fixture().driver.ensureCpus(spec.vmId, null, soon(fixture()))
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ power: 'running' })
    await fixture().driver.ensureCpus(unknownId(), set, soon(fixture()))
  })
}
