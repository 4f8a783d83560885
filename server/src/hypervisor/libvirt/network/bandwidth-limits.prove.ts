// Limits on a host whose kernel has them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingForSandbox } from '../../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { openProof, soon, type Proof } from '../../../../test/libvirt-proof.ts'
import { giveTrafficControl, queues } from '../../../../test/traffic-control.ts'

describeIf(missingForSandbox())('a bandwidth limit', { timeout: 300_000 }, () => {
  let proof: Proof
  beforeAll(async () => {
    proof = await openProof()
    await giveTrafficControl(proof.host.sandbox, 'able')
  }, 300_000)
  afterAll(() => proof.close())

  const probes = async (): Promise<string[]> =>
    (await proof.host.sandbox.inside('virsh', 'net-list', '--all', '--name')).match(/berth-probe\S*/g) ?? []
  const plant = (order: string, name: string, bridge: string): Promise<string> =>
    proof.host.sandbox.inside(
      'sh',
      '-ec',
      `echo "<network><name>${name}</name><bridge name='${bridge}'/></network>" > /run/n.xml; virsh ${order} /run/n.xml`,
    )

  test('is probed by two processes at once, and no probe network stays, nor that of a dead process', async () => {
    const { driver, other } = proof
    await plant('net-define', 'berth-probe-0badc0de', 'bnp0badc0de')
    await plant('net-create', 'berth-probe-1badc0de', 'bnp1badc0de')
    expect(await probes()).toHaveLength(2)
    const facts = await Promise.all([driver.facts(soon()), other.facts(soon())])
    expect(facts.map(({ canShapeTraffic }) => canShapeTraffic)).toEqual([true, true])
    expect(await probes()).toEqual([])
    expect(await proof.host.sandbox.inside('ls', '/sys/class/net')).not.toMatch(/^bnp/m)
  })

  const shaped = async (): Promise<boolean> => (await queues(proof.host.sandbox)).includes('htb')

  test('is set, survives a stop, is changed and lifted', async () => {
    const { driver } = proof
    const spec = proof.spec()
    const [nic] = spec.nics
    const limit = async (): Promise<number | null | undefined> => (await driver.findMachine(spec.vmId, soon()))?.nics[0]?.limitMbps
    expect(await driver.facts(soon())).toMatchObject({ canShapeTraffic: true })
    await proof.start({ ...spec, nics: [{ ...nic!, limitMbps: 100 }] })
    expect([await limit(), await shaped()]).toEqual([100, true])
    expect(await driver.ensureLimit(spec.vmId, nic!.mac, 10, soon())).toEqual({ limited: true })
    expect(await limit()).toBe(10)
    await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
    expect(await limit()).toBe(10)
    expect(await driver.ensureLimit(spec.vmId, nic!.mac, null, soon())).toEqual({ limited: false })
    expect(await limit()).toBeNull()
    await driver.ensureRunning(spec, soon())
    expect([await limit(), await shaped()]).toEqual([null, false])
  })
})
