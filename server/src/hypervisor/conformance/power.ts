import { expect, test, vi } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { collect, create, createSteps, expectKind, soon, stop, unknownId, type ConformanceContract } from './fixture.ts'

export const powerContract: ConformanceContract = (fixture) => {
  const grace = () => ({ graceMs: fixture().patienceMs })

  test('a machine runs once, however many calls of however many processes start it', async () => {
    const spec = await create(fixture())
    await create(fixture(), spec)
    await Promise.all([fixture().driver.ensureRunning(spec, soon(fixture())), fixture().other.ensureRunning(spec, soon(fixture()))])
    const machines = await collect(fixture().driver.listMachines(soon(fixture())))
    expect(machines.filter((machine) => machine.uuid === spec.uuid)).toHaveLength(1)
    expect(await fixture().other.findMachine(spec.vmId, soon(fixture()))).toMatchObject({
      power: 'running',
      agentConnected: true,
      stopReason: null,
    })
  })

  test('a machine does not run without its disk', async () => {
    await expectKind(fixture().driver.ensureRunning(fixture().spec(), soon(fixture())), 'not_found')
  })

  test('a stop shuts the guest down, a second one finds it stopped, and it starts again', async () => {
    const spec = await create(fixture())
    expect(await fixture().driver.ensureStopped(spec.vmId, grace(), soon(fixture()))).toEqual({ how: 'clean' })
    expect(await fixture().other.ensureStopped(spec.vmId, grace(), soon(fixture()))).toEqual({ how: 'already' })
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({
      power: 'stopped',
      stopReason: 'user',
      agentConnected: false,
    })
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ power: 'running' })
  })

  test('a resume leaves a machine that runs, is stopped or does not exist as it is', async () => {
    const spec = await create(fixture())
    const resume = (vmId: string) => fixture().driver.ensureResumed(vmId, soon(fixture()))
    const found = () => fixture().driver.findMachine(spec.vmId, soon(fixture()))
    await resume(spec.vmId)
    expect(await found()).toMatchObject({ power: 'running', isOutOfSpace: false })
    await stop(fixture(), spec)
    await resume(spec.vmId)
    expect(await found()).toMatchObject({ power: 'stopped', stopReason: 'user', isOutOfSpace: false })
    await resume(unknownId())
  })

  test('a stop without grace period powers the guest off', async () => {
    const spec = await create(fixture())
    expect(await fixture().driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon(fixture()))).toEqual({ how: 'forced' })
  })

  test('a power loss of the host is told from a stop that was completed, and not from one that was only requested', async () => {
    const stopped = await create(fixture())
    await stop(fixture(), stopped)
    const asked = await create(fixture())
    await fixture().giveUpStop(asked.vmId)
    expect(await fixture().driver.findMachine(asked.vmId, soon(fixture()))).toMatchObject({ power: 'running', stopReason: null })
    await fixture().losePower()
    expect(await fixture().driver.findMachine(stopped.vmId, soon(fixture()))).toMatchObject({ power: 'stopped', stopReason: 'user' })
    expect(await fixture().driver.findMachine(asked.vmId, soon(fixture()))).toMatchObject({ power: 'stopped', stopReason: 'host' })
    expect(await fixture().driver.ensureStopped(asked.vmId, grace(), soon(fixture()))).toEqual({ how: 'already' })
  })

  test('a start revokes a stop that was aborted', async () => {
    const spec = await create(fixture())
    await fixture().giveUpStop(spec.vmId)
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    await fixture().guest.powerOff(spec.vmId)
    await vi.waitFor(
      async () =>
        expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ power: 'stopped', stopReason: 'guest' }),
      { timeout: fixture().patienceMs, interval: 100 },
    )
  })

  test('a machine that does not exist counts as stopped', async () => {
    expect(await fixture().driver.ensureStopped(unknownId(), grace(), soon(fixture()))).toEqual({ how: 'already' })
  })

  test('one action id reboots once, also for two concurrent processes', async () => {
    const { vmId } = await create(fixture())
    const request = { actionId: newId(), ...grace() }
    const answers = await Promise.all(
      [fixture().driver, fixture().other].map((driver) => driver.ensureRestarted(vmId, request, soon(fixture()))),
    )
    expect(answers.map((answer) => answer.how).sort()).toEqual(['already', 'clean'])
    expect(await fixture().driver.ensureRestarted(vmId, request, soon(fixture()))).toEqual({ how: 'already' })
    expect(await fixture().driver.ensureRestarted(vmId, { actionId: newId(), graceMs: 0 }, soon(fixture()))).toEqual({ how: 'forced' })
    expect(await fixture().driver.ensureReady(vmId, { timeoutMs: fixture().patienceMs }, soon(fixture()))).toEqual({
      readiness: 'reachable',
    })
  })

  test('a stopped machine cannot be rebooted, unless that action id was completed before', async () => {
    const spec = await create(fixture())
    const request = { actionId: newId(), ...grace() }
    await fixture().driver.ensureRestarted(spec.vmId, request, soon(fixture()))
    await stop(fixture(), spec)
    expect(await fixture().driver.ensureRestarted(spec.vmId, request, soon(fixture()))).toEqual({ how: 'already' })
    await expectKind(fixture().driver.ensureRestarted(spec.vmId, { ...request, actionId: newId() }, soon(fixture())), 'invalid_state')
  })

  test('an image without agent is reported as booting', async () => {
    const spec = fixture().agentless()
    for (const step of createSteps(fixture(), spec).slice(0, 3)) await step()
    expect(await fixture().driver.ensureReady(spec.vmId, { timeoutMs: fixture().patienceMs }, soon(fixture()))).toEqual({
      readiness: 'booting',
    })
    await expectKind(fixture().driver.ensurePassword(spec.vmId, { user: 'root', passwordHash: '$6$x' }, soon(fixture())), 'unsupported')
  })

  test('an image without agent is waited for where its owner may have installed one; it runs on', async () => {
    const spec = { ...fixture().agentless(), nics: [] }
    for (const step of createSteps(fixture(), spec).slice(0, 3)) await step()
    const request = { timeoutMs: 1_000, evenWithoutAgent: true }
    await expectKind(fixture().driver.ensureReady(spec.vmId, request, soon(fixture())), 'guest_failed')
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ power: 'running', nics: [] })
  })

  test('a machine that goes off while booting has failed, with its console tail', async () => {
    const spec = await create(fixture())
    await stop(fixture(), spec)
    const failure = fixture().driver.ensureReady(spec.vmId, { timeoutMs: fixture().patienceMs }, soon(fixture()))
    await expect(failure).rejects.toMatchObject({
      kind: 'guest_failed',
      retry: false,
      consoleTail: expect.arrayContaining([expect.any(String)]),
    })
  })

  test('a password is set in the running guest', async () => {
    const spec = await create(fixture())
    const login = { user: spec.seed.user, passwordHash: '$6$berth$changed' }
    await fixture().driver.ensurePassword(spec.vmId, login, soon(fixture()))
    await fixture().driver.ensurePassword(spec.vmId, login, soon(fixture()))
    expect(await fixture().guest.passwordHash(spec.vmId)).toBe(login.passwordHash)
    await stop(fixture(), spec)
    await expectKind(fixture().driver.ensurePassword(spec.vmId, login, soon(fixture())), 'invalid_state')
  })
}
