import { JobType } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISK, ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import { backupMethods } from './backups.ts'
import { completeCopy, makeCopy, removeCopy } from './copy.ts'

const NAME = `snapshot-${VM}-ccopy.qcow2`
const READER = `berth-copy-${VM}`
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

let host: ScriptedHost

beforeEach(async () => {
  host = await ScriptedHost.start()
})

describe('making a copy', () => {
  const make = async (): Promise<void> => makeCopy(host.context, { vmId: VM, name: NAME }, await host.machine(), soon())

  test('thaws a guest that a dead process left frozen, and ends with the marker', async () => {
    host.isFrozen = true
    await make()
    expect(host.calls[0]).toBe('thaw')
    expect(host.calls.at(-1)).toBe(`create ${NAME}.whole`)
  })

  test('uses a reader domain when the VM is off', async () => {
    host.isOn = false
    await make()
    expect(host.calls).toContain(`create ${READER}`)
    expect(host.names).toEqual([NAME, `${NAME}.whole`])
  })

  test('leaves no marker for a volume that was removed meanwhile', async () => {
    await expect(completeCopy(host.context, NAME, soon())).rejects.toMatchObject({ kind: 'cancelled' })
    expect(host.names).toEqual([])
  })
})

describe('removing a copy', () => {
  const remove = (): Promise<void> => removeCopy(host.context, VM, NAME, soon())
  const runningIn = (domain: string): void => {
    host.addComplete(NAME)
    host.jobs.set(domain, { target: `/berth/${NAME}`, incremental: undefined, polls: 0 })
    host.onPoll = () => undefined
  }

  test('aborts its job first, and thaws the guest', async () => {
    runningIn(`berth-${VM}`)
    host.isFrozen = true
    await remove()
    expect(host.calls).toEqual([`delete ${NAME}.whole`, 'thaw', 'abort', `delete ${NAME}`])
  })

  test('aborts the job of the reader domain when the VM is off', async () => {
    host.isOn = false
    host.helpers.set(READER, '<domain/>')
    runningIn(READER)
    await remove()
    expect(host.calls).toEqual([`delete ${NAME}.whole`, 'abort', `delete ${NAME}`])
  })

  test('succeeds for a copy that does not exist', async () => {
    await remove()
    expect(host.calls).toEqual([])
  })
})

describe('a backup', () => {
  const PARENT = `backup-${VM}-cparent.qcow2`
  const backup = () => backupMethods(host.context).ensureBackup(VM, { backupId: 'cnew', parentId: 'cparent' }, soon())

  beforeEach(() => host.addComplete(PARENT))

  test('is incremental where the checkpoint of its parent is usable', async () => {
    host.checkpoints.set('cparent', DISK)
    expect(await backup()).toEqual({ sizeBytes: 4096, parentId: 'cparent', consistency: 'FILESYSTEM' })
    expect([...host.checkpoints.keys()]).toEqual(['cparent', 'cnew'])
  })

  test('is crash-consistent where the guest was not frozen, or nobody knows any more', async () => {
    host.hasAgent = false
    expect(await backup()).toMatchObject({ consistency: 'CRASH' })
    host.hasAgent = true
    expect(await backup()).toMatchObject({ consistency: 'CRASH' })
  })

  test('is full after a rebuild, and clears the checkpoints of the old disk', async () => {
    host.checkpoints.set('cparent', '/berth/vm-cvm-0.qcow2')
    expect(await backup()).toMatchObject({ parentId: null })
    expect([...host.checkpoints.keys()]).toEqual(['cnew'])
  })

  test('is full where the dirty bitmap is inconsistent, and removes that checkpoint', async () => {
    host.checkpoints.set('cparent', DISK)
    host.refuseIncremental()
    expect(await backup()).toMatchObject({ parentId: null })
    expect(host.warnings).toEqual(['incremental backup rejected; falling back to full'])
    expect([...host.checkpoints.keys()]).toEqual(['cnew'])
  })

  test('fails, and stays incremental, when its job fails', async () => {
    host.checkpoints.set('cparent', DISK)
    host.onPoll = (_, domain) => host.endJob(domain, { type: JobType.failed })
    await expect(backup()).rejects.toMatchObject({ kind: 'transient' })
    expect(host.volumes.get(`backup-${VM}-cnew.qcow2`)).toMatchObject({ backing: PARENT })
  })
})
