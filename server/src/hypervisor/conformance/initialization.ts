import { expect, test, vi } from 'vitest'
import type { Initialization, MachineSpec, UserDataPart } from '../driver.ts'
import { changeTo, create, expectKind, soon, stop, unknownId, type ConformanceContract } from './fixture.ts'

const script = (text: string): UserDataPart => ({
  type: 'text/x-shellscript',
  filename: null,
  mergeType: null,
  text: `#!/bin/sh\n${text}\n`,
})

export const initializationContract: ConformanceContract = (fixture) => {
  const withUserData = (...userData: UserDataPart[]): MachineSpec => {
    const spec = fixture().spec()
    return { ...spec, seed: { ...spec.seed, userData } }
  }
  const read = ({ vmId }: MachineSpec): Promise<Initialization> => fixture().driver.readInitialization(vmId, soon(fixture()))
  const ended = (spec: MachineSpec): Promise<Initialization> =>
    vi.waitFor(
      async () => {
        const found = await read(spec)
        expect(found.state).not.toBe('running')
        return found
      },
      { timeout: fixture().patienceMs, interval: 500 },
    )

  test('a guest carries out its user data, says so, and says so still when it was started again', async () => {
    const spec = await create(fixture(), withUserData(script('echo hello from $(hostname)'), script('true')))
    const done = await ended(spec)
    expect(done).toMatchObject({ state: 'completed', seconds: expect.any(Number), errors: [] })
    expect(done.output).not.toBe('')
    await changeTo(fixture(), spec)
    expect(await ended(spec)).toMatchObject({ state: 'completed', errors: [] })
  })

  test('a guest says which part of its user data failed, and is what it would be without it', async () => {
    const spec = await create(fixture(), withUserData(script('true'), script('# simulate: fail\necho all is lost >&2\nexit 3')))
    const { state, errors } = await ended(spec)
    expect([state, errors]).toEqual(['failed', [expect.stringContaining('part-002')]])
    expect(await fixture().guest.passwordHash(spec.vmId)).toBe(spec.seed.passwordHash)
  })

  test('a guest that has not ended says that, and holds nobody up', async () => {
    const spec = await create(fixture(), withUserData(script('# simulate: hang\nsleep 100000')))
    expect(await read(spec)).toEqual({ state: 'running', seconds: null, errors: [], output: '' })
  })

  test('a guest without user data, agent or power says nothing', async () => {
    const spec = await create(fixture())
    expect((await read(spec)).errors).toEqual([])
    await stop(fixture(), spec)
    await expectKind(read(spec), 'invalid_state')
    const silent = await create(fixture(), fixture().agentless())
    await expectKind(read(silent), 'unsupported')
    await expectKind(fixture().driver.readInitialization(unknownId(), soon(fixture())), 'not_found')
  })
}
