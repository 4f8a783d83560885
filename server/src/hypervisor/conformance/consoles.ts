import type { Duplex } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { create, expectKind, soon, stop, type ConformanceContract } from './fixture.ts'

export const consoleContract: ConformanceContract = (rig) => {
  const patience = () => ({ timeout: rig().patienceMs, interval: 20 })

  test('the serial console shows a login prompt, echoes, and ends with the machine', async () => {
    const spec = await create(rig())
    const serial = await rig().driver.openConsole(spec.vmId, 'serial', soon(rig()))
    const seen = reading(serial)
    serial.write('\r')
    await vi.waitFor(() => expect(seen()).toContain('login:'), patience())
    serial.write('echoed')
    await vi.waitFor(() => expect(seen()).toContain('echoed'), patience())
    await stop(rig(), spec)
    await vi.waitFor(() => expect(serial.readableEnded).toBe(true), patience())
  })

  test('a console type the host does not offer is unsupported, and a stopped machine has no console', async () => {
    const spec = await create(rig())
    const { consoles } = await rig().driver.facts(soon(rig()))
    if (!consoles.includes('vnc')) await expectKind(rig().driver.openConsole(spec.vmId, 'vnc', soon(rig())), 'unsupported')
    await stop(rig(), spec)
    await expectKind(rig().driver.openConsole(spec.vmId, 'serial', soon(rig())), 'invalid_state')
    await expectKind(rig().driver.screenshot(spec.vmId, soon(rig())), 'invalid_state')
  })

  test('the screen of a running machine is a PNG', async () => {
    const { vmId } = await create(rig())
    const image = await rig().driver.screenshot(vmId, soon(rig()))
    expect(image.subarray(1, 4).toString('latin1')).toBe('PNG')
  })
}

function reading(stream: Duplex): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer | string) => (text += chunk.toString()))
  return () => text
}
