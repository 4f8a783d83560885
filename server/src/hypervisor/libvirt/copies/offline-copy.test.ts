import { areas, ErrorCode, JobType } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISK, ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import { copyOffline } from './offline-copy.ts'

const NAME = `snapshot-${VM}-ccopy.qcow2`
const READER = `berth-copy-${VM}`
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

let host: ScriptedHost

beforeEach(async () => {
  host = await ScriptedHost.start()
  host.isOn = false
  host.hasAgent = false
})

const copy = async (signal = soon()): Promise<void> => copyOffline(host.context, { vmId: VM, name: NAME }, await host.machine(), signal)

describe('a copy of a VM that is off', () => {
  test('is made by a reader domain, which is destroyed afterwards', async () => {
    let xml = ''
    host.onPoll = (_, domain) => {
      xml = host.helpers.get(domain) ?? ''
      host.endJob(domain, { type: JobType.completed })
    }
    await copy()
    expect(host.calls).toEqual([`create ${READER}`, `create ${NAME}`, `begin ${NAME}`, `destroy ${READER}`])
    expect(xml).toContain(`<source file='${DISK}'/>`)
    expect(xml).toContain('<readonly/>')
  })

  test.each([
    ['fails', JobType.failed, 'transient'],
    ['is aborted by another process', JobType.cancelled, 'transient'],
  ])('destroys the reader domain when its job %s', async (_, type, kind) => {
    host.onPoll = (_job, domain) => host.endJob(domain, { type })
    await expect(copy()).rejects.toMatchObject({ kind })
    expect([...host.helpers]).toEqual([])
  })

  test('destroys the reader domain after an abort', async () => {
    const abort = new AbortController()
    host.onPoll = () => abort.abort()
    await expect(copy(abort.signal)).rejects.toMatchObject({ kind: 'aborted' })
    expect([...host.helpers]).toEqual([])
  })

  test('succeeds also when the reader domain cannot be destroyed', async () => {
    host.daemon.on(areas.domains.destroy, (call, peer) => peer.refuse(call, ErrorCode.internal, 'no'))
    await copy()
    expect(host.warnings).toEqual(['destroying reader domain failed'])
  })
})

describe('the reader domain of another process', () => {
  beforeEach(() => void host.helpers.set(READER, '<domain/>'))

  test('is waited for, and so is the copy it completes', async () => {
    host.jobs.set(READER, { target: `/berth/${NAME}`, incremental: undefined, polls: 0 })
    host.onPoll = (job) => {
      if (job.polls === 2) host.addComplete(NAME)
    }
    await copy()
    expect(host.calls).not.toContain(`destroy ${READER}`)
    expect(host.calls.filter((call) => call.startsWith('begin'))).toEqual([])
  })

  test('is left alone as long as it copies', async () => {
    host.jobs.set(READER, { target: '/berth/other.qcow2', incremental: undefined, polls: 0 })
    host.onPoll = (job, domain) => {
      if (job.target.endsWith(NAME)) return host.endJob(domain, { type: JobType.completed })
      if (job.polls < 12) return
      host.jobs.delete(domain)
      host.helpers.delete(domain)
    }
    await copy()
    expect(host.calls.filter((call) => call === `destroy ${READER}`)).toHaveLength(1) // its own
  })

  test('that nobody uses any more is destroyed, and the copy is made', async () => {
    await copy()
    expect(host.calls.slice(-5)).toEqual([`destroy ${READER}`, `create ${READER}`, `create ${NAME}`, `begin ${NAME}`, `destroy ${READER}`])
    expect(host.calls.filter((call) => call === `create ${READER}`)).toHaveLength(11)
  })
})
