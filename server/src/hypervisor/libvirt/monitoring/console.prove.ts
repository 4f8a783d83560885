// The screen of a machine on this very host, by the socket that QEMU listens on.
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost, uriWithFiles } from '../../../../test/libvirt-host.ts'
import { openProof, soon, type Proof } from '../../../../test/libvirt-proof.ts'

describeIf(missingForLibvirtHost())('the screen of a machine', { timeout: 300_000 }, () => {
  let proof: Proof
  beforeAll(async () => {
    proof = await openProof(uriWithFiles)
  }, 300_000)
  afterAll(() => proof.close())

  test('is offered and speaks VNC, and ends with the machine, or with its driver', async () => {
    const { driver } = proof
    const spec = proof.spec()
    await proof.start(spec)
    expect((await driver.facts(soon())).consoles).toEqual(['serial', 'vnc'])
    const screen = await driver.openConsole(spec.vmId, 'vnc', soon())
    const [greeting] = (await once(screen, 'data')) as [Buffer]
    expect(greeting.toString()).toMatch(/^RFB 003\.\d+\n$/)
    const elsewhere = (await proof.other.openConsole(spec.vmId, 'vnc', soon())).on('error', () => {})
    await proof.other.close()
    expect(elsewhere.destroyed).toBe(true)
    const ended = once(screen.resume(), 'end')
    await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
    await ended
  })
})
