// Limits on a host whose kernel has them. Where the modules are missing, a stand-in for `tc` that leaves those parts out is put in its
// place: what is proved is what libvirt is told and what becomes of it, not the kernel.
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canBox } from '../../../../libvirt/test/command.ts'
import { openProof, soon, type Proof } from '../../../test/libvirt-proof.ts'

const STAND_IN = `#!/bin/bash
case "$*" in
  *" sfq "*) exec /run/real-tc $(sed 's/sfq perturb 10/pfifo limit 256/' <<< "$*") ;;
  *" fw flowid"* | *police*) exit 0 ;;
esac
exec /run/real-tc "$@"
`

describe.runIf(canBox())('a limit', { timeout: 300_000 }, () => {
  let proof: Proof
  beforeAll(async () => {
    proof = await openProof()
    const { box } = proof.host
    const path = join(box.folder, 'tc')
    await writeFile(path, STAND_IN)
    await chmod(path, 0o755)
    await box.inside('cp', '/usr/sbin/tc', '/run/real-tc')
    await box.inside('mount', '--bind', path, '/usr/sbin/tc')
  }, 300_000)
  afterAll(() => proof.close())

  const shaped = async (): Promise<boolean> => (await proof.host.box.inside('/run/real-tc', 'qdisc')).includes('htb')

  test('is set, kept over a stop, changed and lifted', async () => {
    const { driver } = proof
    const spec = proof.spec()
    const [nic] = spec.nics
    const limit = async (): Promise<number | null | undefined> => (await driver.findMachine(spec.vmId, soon()))?.nics[0]?.limitMbps
    expect(await driver.facts(soon())).toMatchObject({ canLimit: true })
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
