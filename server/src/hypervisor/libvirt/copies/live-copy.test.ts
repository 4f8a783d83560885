import { constants } from 'node:os'
import { areas, ErrorCode, JobType } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISK_BYTES, ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import type { CopyRequest, Increment } from './backup-job.ts'
import { runPushBackup } from './live-copy.ts'

const NAME = `backup-${VM}-ccopy.qcow2`
const PARENT = `backup-${VM}-cparent.qcow2`
const DOMAIN = `berth-${VM}`
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

let host: ScriptedHost

beforeEach(async () => {
  host = await ScriptedHost.start()
})

const copy = async (request: Partial<CopyRequest> = {}, signal = soon()): Promise<void> =>
  runPushBackup(host.context, { vmId: VM, name: NAME, ...request }, await host.machine(), signal)
const ends = (ended: { type: number; errmsg?: string }): void => {
  host.onPoll = (job, domain) => {
    if (job.polls === 2) host.endJob(domain, ended)
  }
}

describe('a copy of a running VM', () => {
  test('is written by a job that starts while the filesystems are frozen', async () => {
    await copy()
    expect(host.calls).toEqual([`create ${NAME}`, 'freeze', `begin ${NAME}`, 'thaw'])
    expect(host.volumes.get(NAME)).toEqual({ capacityBytes: DISK_BYTES, backing: undefined })
  })

  test('fails with its job, and keeps the volume for the next attempt', async () => {
    ends({ type: JobType.failed, errmsg: 'Input/output error' })
    await expect(copy()).rejects.toMatchObject({ kind: 'transient' })
    expect([host.names, host.isFrozen]).toEqual([[NAME], false])
  })

  test('for which there is no space leaves no volume', async () => {
    ends({ type: JobType.failed, errmsg: 'No space left on device' })
    await expect(copy()).rejects.toMatchObject({ kind: 'no_space' })
    expect(host.names).toEqual([])
  })

  test('that is aborted has no job any more, and keeps the volume', async () => {
    const abort = new AbortController()
    host.onPoll = () => abort.abort()
    await expect(copy({}, abort.signal)).rejects.toMatchObject({ kind: 'aborted' })
    expect([host.jobs.size, host.names, host.isFrozen]).toEqual([0, [NAME], false])
    expect(host.calls.at(-1)).toBe('abort')
  })

  test('reports an abort also when the job cannot be stopped', async () => {
    const abort = new AbortController()
    host.onPoll = () => abort.abort()
    host.daemon.on(areas.domains.abortJob, (call, peer) => peer.refuse(call, ErrorCode.internal, 'no'))
    await expect(copy({}, abort.signal)).rejects.toMatchObject({ kind: 'aborted' })
    expect(host.warnings).toEqual(['aborting backup job failed'])
  })

  test('is cancelled when another process removes it', async () => {
    host.onPoll = (_, domain) => {
      host.volumes.delete(NAME)
      host.endJob(domain, { type: JobType.cancelled })
    }
    await expect(copy()).rejects.toMatchObject({ kind: 'cancelled' })
  })

  test('is cancelled rather than failed when the volume is missing after a failure', async () => {
    host.onPoll = (_, domain) => {
      host.volumes.delete(NAME)
      host.endJob(domain, { type: JobType.failed, errmsg: 'Input/output error' })
    }
    await expect(copy()).rejects.toMatchObject({ kind: 'cancelled' })
  })

  test.each([
    ['went off', () => void (host.isOn = false)],
    ['was restarted', () => void host.domainId++],
  ])('is retried later when the VM %s', async (_, happen) => {
    host.onPoll = (_job, domain) => {
      happen()
      host.endJob(domain, { type: JobType.cancelled })
    }
    await expect(copy()).rejects.toMatchObject({ kind: 'transient' })
  })
})

describe('two processes that make the same copy', () => {
  test('resume with the volume of the one that died', async () => {
    host.volumes.set(NAME, { capacityBytes: DISK_BYTES })
    await copy()
    expect(host.calls).toEqual(['freeze', `begin ${NAME}`, 'thaw'])
  })

  test('share the job of the one that was first', async () => {
    host.volumes.set(NAME, { capacityBytes: DISK_BYTES })
    host.jobs.set(DOMAIN, { target: `/berth/${NAME}`, incremental: undefined, polls: 0 })
    host.onPoll = (job, domain) => {
      if (job.polls < 3) return
      host.endJob(domain, { type: JobType.completed })
      host.addComplete(NAME)
    }
    await copy()
    expect(host.calls).toEqual(['freeze', `begin ${NAME}`, 'thaw'])
  })

  test('start a second job when the first was aborted with its process', async () => {
    let jobs = 0
    host.onPoll = (job, domain) => {
      if (job.polls === 1) jobs++
      if (job.polls === 2) host.endJob(domain, { type: jobs === 1 ? JobType.cancelled : JobType.completed })
    }
    await copy()
    expect(host.calls.filter((call) => call.startsWith('begin'))).toHaveLength(2)
  })

  test('wait while QEMU still has the volume locked, or it is being replaced', async () => {
    host.once(areas.backups.begin, (call, peer) => {
      host.once(areas.backups.begin, (again, later) => later.refuse(again, ErrorCode.system, 'stat', { errno: constants.errno.ENOENT }))
      peer.refuse(call, ErrorCode.internal, 'Failed to get "write" lock')
    })
    await copy()
    expect(host.calls.at(-2)).toBe(`begin ${NAME}`)
  })

  test('do not wait for ever for a volume that stays locked', async () => {
    host.daemon.on(areas.backups.begin, (call, peer) => peer.refuse(call, ErrorCode.internal, 'Failed to get "write" lock'))
    await expect(copy()).rejects.toMatchObject({ kind: 'transient' })
  })

  test('remove the checkpoint of an attempt that died', async () => {
    host.checkpoints.set('ccopy', '/berth/vm-cvm-1.qcow2')
    await copy({ checkpoint: 'ccopy' })
    expect(host.calls).toContain('delete checkpoint ccopy')
    expect([...host.checkpoints.keys()]).toEqual(['ccopy'])
  })
})

describe('the volume that a dead process left', () => {
  test.each([
    ['another size', { capacityBytes: DISK_BYTES / 2 }],
    ['a backing file', { capacityBytes: DISK_BYTES, backing: PARENT }],
  ])('is replaced when it has %s', async (_, left) => {
    host.volumes.set(NAME, left)
    await copy()
    expect(host.calls.slice(0, 2)).toEqual([`delete ${NAME}`, `create ${NAME}`])
    expect(host.volumes.get(NAME)).toEqual({ capacityBytes: DISK_BYTES, backing: undefined })
  })

  test('is used when another process gives it its size in time', async () => {
    host.volumes.set(NAME, { capacityBytes: 0 })
    host.once(areas.volumes.getXml, (call, peer) => {
      host.volumes.set(NAME, { capacityBytes: DISK_BYTES })
      peer.reply(call, areas.volumes.getXml.result as never, `<volume><capacity>0</capacity></volume>`)
    })
    await copy()
    expect(host.calls).not.toContain(`delete ${NAME}`)
  })
})

describe('an incremental copy', () => {
  const increment: Increment = { backing: PARENT, since: 'cparent', isRemote: false }

  test('is a layer on its parent, with what changed since the checkpoint', async () => {
    host.addComplete(PARENT)
    host.onPoll = (job, domain) => {
      expect(job.incremental).toBe('cparent')
      host.endJob(domain, { type: JobType.completed })
    }
    await copy({ increment })
    expect(host.volumes.get(NAME)).toEqual({ capacityBytes: DISK_BYTES, backing: PARENT })
  })

  test('on a parent of another host is created on a placeholder, which goes before the job starts', async () => {
    await copy({ increment: { ...increment, isRemote: true } })
    expect(host.calls).toEqual([`create ${PARENT}`, `create ${NAME}`, `delete ${PARENT}`, 'freeze', `begin ${NAME}`, 'thaw'])
    expect(host.names).toEqual([NAME])
  })

  test('leaves no placeholder when its volume cannot be created', async () => {
    host.once(areas.volumes.create, (call, peer) => {
      host.volumes.set(PARENT, { capacityBytes: DISK_BYTES })
      peer.reply(call, areas.volumes.create.result as never, { pool: 'berth', name: PARENT, key: `/berth/${PARENT}` })
      host.once(areas.volumes.create, (again, later) => later.refuse(again, ErrorCode.internal, 'No space left on device'))
    })
    await expect(copy({ increment: { ...increment, isRemote: true } })).rejects.toMatchObject({ kind: 'no_space' })
    expect(host.names).toEqual([])
  })
})
