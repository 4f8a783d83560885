import type { Duplex } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { create, expectKind, soon, stop, type ConformanceContract } from './fixture.ts'

export const consoleContract: ConformanceContract = (fixture) => {
  const patience = () => ({ timeout: fixture().patienceMs, interval: 20 })

  test('the serial console shows a login prompt, echoes, and ends with the machine', async () => {
    const spec = await create(fixture())
    const serial = await fixture().driver.openConsole(spec.vmId, 'serial', soon(fixture()))
    const seen = reading(serial)
    serial.write('\r')
    await vi.waitFor(() => expect(seen()).toContain('login:'), patience())
    serial.write('echoed')
    await vi.waitFor(() => expect(seen()).toContain('echoed'), patience())
    await stop(fixture(), spec)
    await vi.waitFor(() => expect(serial.readableEnded).toBe(true), patience())
  })

  test('a console type the host does not offer is unsupported, and a stopped machine has no console', async () => {
    const spec = await create(fixture())
    const { consoles } = await fixture().driver.facts(soon(fixture()))
    if (!consoles.includes('vnc')) await expectKind(fixture().driver.openConsole(spec.vmId, 'vnc', soon(fixture())), 'unsupported')
    await stop(fixture(), spec)
    await expectKind(fixture().driver.openConsole(spec.vmId, 'serial', soon(fixture())), 'invalid_state')
    await expectKind(fixture().driver.screenshot(spec.vmId, soon(fixture())), 'invalid_state')
  })

  test('the screen of a running machine is a PNG', async () => {
    const { vmId } = await create(fixture())
    const image = await fixture().driver.screenshot(vmId, soon(fixture()))
    expect(image.subarray(1, 4).toString('latin1')).toBe('PNG')
  })
}

function reading(stream: Duplex): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer | string) => (text += chunk.toString()))
  return () => text
}
