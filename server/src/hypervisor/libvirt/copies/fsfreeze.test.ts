import { areas, ErrorCode } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { ScriptedHost } from '../../../../test/scripted-libvirt-host.ts'
import { ensureThawed, withFilesystemsFrozen } from './fsfreeze.ts'

const { freezeFilesystems, thawFilesystems } = areas.snapshots
const AGENT_REFUSED = "internal error: unable to execute QEMU agent command 'guest-fsfreeze-thaw': not frozen"

let host: ScriptedHost

beforeEach(async () => {
  host = await ScriptedHost.start()
})

const work = async (): Promise<string> => {
  host.calls.push(host.isFrozen ? 'work frozen' : 'work')
  return 'done'
}
const runFrozen = async (job = work): Promise<string> => withFilesystemsFrozen(host.context, await host.machine(), job)

describe('the filesystems of a guest', () => {
  test('are frozen during the work, and thawed after it', async () => {
    expect(await runFrozen()).toBe('done')
    expect(host.calls).toEqual(['freeze', 'work frozen', 'thaw'])
  })

  test('are thawed when the work fails', async () => {
    await expect(runFrozen(() => Promise.reject(new Error('no job')))).rejects.toThrow('no job')
    expect(host.calls).toEqual(['freeze', 'thaw'])
  })

  test('are thawed also when the freeze failed: only its reply may be lost', async () => {
    host.once(freezeFilesystems, (call, peer) => peer.refuse(call, ErrorCode.agentUnresponsive, 'guest agent is not responding'))
    expect(await runFrozen()).toBe('done')
    expect(host.calls).toEqual(['work', 'thaw'])
    expect(host.warnings).toEqual(['fsfreeze failed; copy is crash-consistent only'])
  })

  test('are left alone where no agent is connected', async () => {
    host.hasAgent = false
    expect(await runFrozen()).toBe('done')
    await ensureThawed(host.context, await host.machine())
    expect(host.calls).toEqual(['work'])
  })

  test('are thawed for a process that died while they were frozen', async () => {
    host.isFrozen = true
    await ensureThawed(host.context, await host.machine())
    expect(host.isFrozen).toBe(false)
  })
})

describe('thawing', () => {
  test('is retried until the agent answers', async () => {
    host.isFrozen = true
    host.once(thawFilesystems, (call, peer) => {
      host.once(thawFilesystems, (again, later) => later.refuse(again, ErrorCode.internal, 'End of file from agent socket'))
      peer.refuse(call, ErrorCode.agentUnresponsive, 'Guest agent not available for now')
    })
    await ensureThawed(host.context, await host.machine())
    expect([host.isFrozen, host.warnings]).toEqual([false, []])
  })

  test.each([
    ['the agent refuses, because nothing is frozen', ErrorCode.internal, AGENT_REFUSED],
    ['the domain is off', ErrorCode.operationInvalid, 'domain is not running'],
    ['the domain is gone', ErrorCode.noDomain, 'no domain'],
  ])('ends when %s', async (_, code, message) => {
    let attempts = 0
    host.daemon.on(thawFilesystems, (call, peer) => {
      attempts++
      peer.refuse(call, code, message)
    })
    expect(await runFrozen()).toBe('done')
    expect([attempts, host.warnings]).toEqual([1, ['fsthaw failed']])
  })
})
