import { areas, ErrorCode, ErrorOrigin, JobType } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import type { MachineState } from '../domain/lookup.ts'
import { awaitJob, awaitNoJob, beginJob, stopJob } from './backup-job.ts'

const NAME = `snapshot-${VM}-ccopy.qcow2`
const TARGET = `/berth/${NAME}`
const OTHER = '/berth/other.qcow2'
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

let host: ScriptedHost
let machine: MachineState

beforeEach(async () => {
  host = await ScriptedHost.start()
  machine = await host.machine()
})

const running = (target: string): void => void host.jobs.set(machine.domain.name, { target, incremental: undefined, polls: 0 })
const begin = (request: { checkpoint?: string } = {}): Promise<boolean> =>
  beginJob(host.context.host, machine.domain, { vmId: VM, name: NAME, ...request }, TARGET)

describe('starting a job', () => {
  test('writes to the target, and creates the checkpoint at the same moment', async () => {
    expect(await begin({ checkpoint: 'cnow' })).toBe(true)
    expect(host.jobs.get(machine.domain.name)).toMatchObject({ target: TARGET, incremental: undefined })
    expect([...host.checkpoints.keys()]).toEqual(['cnow'])
  })

  test('waits for another job of the domain', async () => {
    running(OTHER)
    expect(await begin()).toBe(false)
  })

  test('waits for a call that holds the domain', async () => {
    host.once(areas.backups.begin, (call, peer) => peer.refuse(call, ErrorCode.operationTimeout, 'state change lock'))
    expect(await begin()).toBe(false)
    expect(await begin()).toBe(true)
  })

  test('is refused by the checkpoint of an earlier attempt', async () => {
    host.checkpoints.set('cnow', '/berth/vm-cvm-1.qcow2')
    expect(await begin({ checkpoint: 'cnow' })).toBe(false)
  })

  test.each([
    ['another failure of that code', ErrorCode.operationFailed],
    ['QEMU', ErrorCode.internal],
    ['a domain that is off', ErrorCode.operationUnsupported],
  ])('is given up on %s', async (_, code) => {
    host.once(areas.backups.begin, (call, peer) => peer.refuse(call, code, 'no', { origin: ErrorOrigin.domain }))
    await expect(begin({ checkpoint: 'cnow' })).rejects.toMatchObject({ code })
  })
})

describe('waiting for a job', () => {
  const wait = (): Promise<boolean> => awaitJob(host.context, machine.domain, TARGET, soon())
  const endsWith = (type: number, errmsg?: string): void => {
    running(TARGET)
    host.onPoll = (job, domain) => {
      if (job.polls === 3) host.endJob(domain, { type, ...(errmsg !== undefined && { errmsg }) })
    }
  }

  test('ends with true when it completed', async () => {
    endsWith(JobType.completed)
    expect(await wait()).toBe(true)
  })

  test('ends with false when somebody aborted it, and when nothing is known of it', async () => {
    endsWith(JobType.cancelled)
    expect(await wait()).toBe(false)
    host.ended = undefined
    expect(await wait()).toBe(false)
  })

  test.each([
    ['transient', 'Input/output error'],
    ['no_space', 'No space left on device'],
  ])('rejects with %s when it failed with: %s', async (kind, errmsg) => {
    endsWith(JobType.failed, errmsg)
    await expect(wait()).rejects.toMatchObject({ kind, message: expect.stringContaining(errmsg) as string })
  })

  test('does not take the job of another target for this one', async () => {
    running(OTHER)
    host.onPoll = () => undefined
    host.ended = { type: JobType.completed }
    expect(await wait()).toBe(true)
    expect(host.jobs.size).toBe(1)
  })

  test('of any target ends when none runs', async () => {
    running(OTHER)
    await awaitNoJob(host.context, machine.domain, soon())
    expect(host.jobs.size).toBe(0)
  })
})

describe('aborting a job', () => {
  const stop = (): Promise<void> => stopJob(host.context, machine.domain, TARGET, soon())

  test('waits until QEMU has released the target', async () => {
    running(TARGET)
    host.onPoll = (job, domain) => {
      if (job.polls === 4) host.endJob(domain, { type: JobType.cancelled })
    }
    host.daemon.on(areas.domains.abortJob, (call, peer) => {
      host.calls.push('abort')
      peer.reply(call)
    })
    await stop()
    expect(host.calls).toEqual(['abort'])
    expect(host.jobs.size).toBe(0)
  })

  test('leaves a job with another target running', async () => {
    running(OTHER)
    host.onPoll = () => undefined
    await stop()
    expect([host.calls, host.jobs.size]).toEqual([[], 1])
  })

  test('succeeds when the job ended by itself in between', async () => {
    running(TARGET)
    host.onPoll = () => undefined
    host.once(areas.domains.abortJob, (call, peer) => {
      host.endJob(machine.domain.name, { type: JobType.completed })
      peer.refuse(call, ErrorCode.operationInvalid, 'no job is active on the domain')
    })
    await stop()
    expect(host.jobs.size).toBe(0)
  })
})
