import { expect, test, vi } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { collect, create, createSteps, expectKind, OPEN, soon, stop, TEMPLATE, unknownId, type ConformanceContract } from './fixture.ts'

export const powerContract: ConformanceContract = (rig) => {
  const grace = () => ({ graceMs: rig().patienceMs })

  test('a machine runs once, however many calls of however many processes start it', async () => {
    const spec = await create(rig())
    await create(rig(), spec)
    await Promise.all([rig().driver.ensureRunning(spec, soon(rig())), rig().other.ensureRunning(spec, soon(rig()))])
    const machines = await collect(rig().driver.listMachines(soon(rig())))
    expect(machines.filter((machine) => machine.uuid === spec.uuid)).toHaveLength(1)
    expect(await rig().other.findMachine(spec.vmId, soon(rig()))).toMatchObject({
      power: 'running',
      agentConnected: true,
      stopReason: null,
    })
  })

  test('a machine does not run without its filter or its disk', async () => {
    const spec = rig().spec()
    await rig().driver.ensureDisk(spec, TEMPLATE, soon(rig()))
    await expectKind(rig().driver.ensureRunning(spec, soon(rig())), 'invalid_state')
    const diskless = rig().spec()
    await rig().driver.ensureFilter(diskless.vmId, OPEN, soon(rig()))
    await expectKind(rig().driver.ensureRunning(diskless, soon(rig())), 'not_found')
  })

  test('a stop shuts the guest down, a second one finds it stopped, and it starts again', async () => {
    const spec = await create(rig())
    expect(await rig().driver.ensureStopped(spec.vmId, grace(), soon(rig()))).toEqual({ how: 'clean' })
    expect(await rig().other.ensureStopped(spec.vmId, grace(), soon(rig()))).toEqual({ how: 'already' })
    expect(await rig().driver.findMachine(spec.vmId, soon(rig()))).toMatchObject({
      power: 'stopped',
      stopReason: 'user',
      agentConnected: false,
    })
    await rig().driver.ensureRunning(spec, soon(rig()))
    expect(await rig().driver.findMachine(spec.vmId, soon(rig()))).toMatchObject({ power: 'running' })
  })

  test('a stop without grace period powers the guest off', async () => {
    const spec = await create(rig())
    expect(await rig().driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon(rig()))).toEqual({ how: 'forced' })
  })

  test('a power loss of the host is told from a stop that was completed, and not from one that was only requested', async () => {
    const stopped = await create(rig())
    await stop(rig(), stopped)
    const asked = await create(rig())
    await rig().giveUpStop(asked.vmId)
    expect(await rig().driver.findMachine(asked.vmId, soon(rig()))).toMatchObject({ power: 'running', stopReason: null })
    await rig().losePower()
    expect(await rig().driver.findMachine(stopped.vmId, soon(rig()))).toMatchObject({ power: 'stopped', stopReason: 'user' })
    expect(await rig().driver.findMachine(asked.vmId, soon(rig()))).toMatchObject({ power: 'stopped', stopReason: 'host' })
    expect(await rig().driver.ensureStopped(asked.vmId, grace(), soon(rig()))).toEqual({ how: 'already' })
  })

  test('a start revokes a stop that was aborted', async () => {
    const spec = await create(rig())
    await rig().giveUpStop(spec.vmId)
    await rig().driver.ensureRunning(spec, soon(rig()))
    await rig().guest.powerOff(spec.vmId)
    await vi.waitFor(
      async () => expect(await rig().driver.findMachine(spec.vmId, soon(rig()))).toMatchObject({ power: 'stopped', stopReason: 'guest' }),
      { timeout: rig().patienceMs, interval: 100 },
    )
  })

  test('a machine that does not exist counts as stopped', async () => {
    expect(await rig().driver.ensureStopped(unknownId(), grace(), soon(rig()))).toEqual({ how: 'already' })
  })

  test('one action id reboots once, also for two concurrent processes', async () => {
    const { vmId } = await create(rig())
    const request = { actionId: newId(), ...grace() }
    const answers = await Promise.all([rig().driver, rig().other].map((driver) => driver.ensureRestarted(vmId, request, soon(rig()))))
    expect(answers.map((answer) => answer.how).sort()).toEqual(['already', 'clean'])
    expect(await rig().driver.ensureRestarted(vmId, request, soon(rig()))).toEqual({ how: 'already' })
    expect(await rig().driver.ensureRestarted(vmId, { actionId: newId(), graceMs: 0 }, soon(rig()))).toEqual({ how: 'forced' })
    expect(await rig().driver.ensureReady(vmId, { timeoutMs: rig().patienceMs }, soon(rig()))).toEqual({ readiness: 'reachable' })
  })

  test('a stopped machine cannot be rebooted, unless that action id was completed before', async () => {
    const spec = await create(rig())
    const request = { actionId: newId(), ...grace() }
    await rig().driver.ensureRestarted(spec.vmId, request, soon(rig()))
    await stop(rig(), spec)
    expect(await rig().driver.ensureRestarted(spec.vmId, request, soon(rig()))).toEqual({ how: 'already' })
    await expectKind(rig().driver.ensureRestarted(spec.vmId, { ...request, actionId: newId() }, soon(rig())), 'invalid_state')
  })

  test('an image without agent is reported as booting', async () => {
    const spec = rig().agentless()
    for (const step of createSteps(rig(), spec).slice(0, 3)) await step()
    expect(await rig().driver.ensureReady(spec.vmId, { timeoutMs: rig().patienceMs }, soon(rig()))).toEqual({ readiness: 'booting' })
    await expectKind(rig().driver.ensurePassword(spec.vmId, { user: 'root', passwordHash: '$6$x' }, soon(rig())), 'unsupported')
  })

  test('a machine that goes off while booting has failed, with its console tail', async () => {
    const spec = await create(rig())
    await stop(rig(), spec)
    const failure = rig().driver.ensureReady(spec.vmId, { timeoutMs: rig().patienceMs }, soon(rig()))
    await expect(failure).rejects.toMatchObject({
      kind: 'guest_failed',
      retry: false,
      consoleTail: expect.arrayContaining([expect.any(String)]),
    })
  })

  test('a password is set in the running guest', async () => {
    const spec = await create(rig())
    const login = { user: spec.seed.user, passwordHash: '$6$berth$changed' }
    await rig().driver.ensurePassword(spec.vmId, login, soon(rig()))
    await rig().driver.ensurePassword(spec.vmId, login, soon(rig()))
    expect(await rig().guest.passwordHash(spec.vmId)).toBe(login.passwordHash)
    await stop(rig(), spec)
    await expectKind(rig().driver.ensurePassword(spec.vmId, login, soon(rig())), 'invalid_state')
  })
}
