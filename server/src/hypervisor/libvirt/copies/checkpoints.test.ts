import { areas, ErrorCode } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISK, ScriptedHost } from '../../../../test/scripted-libvirt-host.ts'
import { deleteStaleCheckpoints, hasCheckpoint, removeCheckpoint } from './checkpoints.ts'

const OLD_DISK = '/berth/vm-cvm-0.qcow2'
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

let host: ScriptedHost

beforeEach(async () => {
  host = await ScriptedHost.start()
})

test.each([
  ['of the present disk', DISK, true],
  ['of the disk before a rebuild', OLD_DISK, false],
  ['that does not exist', undefined, false],
])('a checkpoint %s: %s can be the base of an incremental backup: %s', async (_, path, isUsable) => {
  if (path) host.checkpoints.set('cparent', path)
  expect(await hasCheckpoint(host.context, await host.machine(), 'cparent', soon())).toBe(isUsable)
})

test('stale checkpoints lose their metadata; those of the present disk stay', async () => {
  host.checkpoints.set('cold', OLD_DISK).set('cnew', DISK)
  await deleteStaleCheckpoints(host.context, await host.machine(), soon())
  expect(host.calls).toEqual(['delete checkpoint cold (metadata only)'])
  expect([...host.checkpoints.keys()]).toEqual(['cnew'])
})

describe('removing a checkpoint', () => {
  beforeEach(() => void host.checkpoints.set('cparent', DISK))
  const remove = async (): Promise<void> => removeCheckpoint(host.context, await host.machine(), 'cparent', soon())

  test('merges its dirty bitmap while the VM is on', async () => {
    await remove()
    expect(host.calls).toEqual(['delete checkpoint cparent'])
  })

  test('deletes its metadata alone where the bitmap is inconsistent', async () => {
    host.once(areas.checkpoints.delete, (call, peer) => peer.refuse(call, ErrorCode.internal, 'Bitmap is inconsistent'))
    await remove()
    expect(host.calls).toEqual(['delete checkpoint cparent (metadata only)'])
  })

  test('deletes its metadata alone while the VM is off', async () => {
    host.isOn = false
    await remove()
    expect(host.calls).toEqual(['delete checkpoint cparent (metadata only)'])
  })

  test('succeeds the second time as well', async () => {
    await remove()
    await remove()
    expect(host.checkpoints.size).toBe(0)
  })
})
