import { ErrorCode } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { ScriptedHost } from '../../../../test/scripted-libvirt-host.ts'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { forceOff } from '../machine/power.ts'
import { ensureThawed, withFilesystemsFrozen } from './fsfreeze.ts'

const [FREEZE, THAW] = ['guest-fsfreeze-freeze', 'guest-fsfreeze-thaw']
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
    host.onceAgent(FREEZE, (_, refuse) => refuse(ErrorCode.agentUnresponsive, 'guest agent is not responding'))
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

  test('are not said to be frozen by an agent that answers nonsense', async () => {
    host.onAgent(FREEZE, (reply) => reply('yes'))
    expect(await withFilesystemsFrozen(host.context, await host.machine(), (isFrozen) => Promise.resolve(isFrozen))).toBe(false)
    expect(host.calls).toEqual(['thaw'])
  })

  test('whose agents never answer keep no other call of the host waiting, and libvirtd waits for them for seconds', async () => {
    const open: { reply: (value: unknown) => void; timeoutSeconds: number }[] = []
    for (const execute of [FREEZE, THAW]) host.onAgent(execute, (reply, _, { timeoutSeconds }) => open.push({ reply, timeoutSeconds }))
    const machine = await host.machine()
    const stuck = [0, 1, 2, 3, 4, 5].map(() => withFilesystemsFrozen(host.context, machine, work))
    expect(await forceOff(host.context, { ...machine.domain, name: 'other' }, AbortSignal.timeout(2_000))).toBe(true)
    await eventually('calls to agents', () => open.length > 0 || undefined)
    expect(open[0]!.timeoutSeconds).toBeLessThanOrEqual(10)
    host.onAgent(FREEZE, (reply) => reply(1))
    host.onAgent(THAW, (reply) => reply(1))
    for (const { reply } of open) reply(1)
    expect(await Promise.all(stuck)).toEqual(stuck.map(() => 'done'))
  })
})

describe('thawing', () => {
  test('is retried until the agent answers', async () => {
    host.isFrozen = true
    host.onceAgent(THAW, (_, refuse) => {
      host.onceAgent(THAW, (_reply, later) => later(ErrorCode.internal, 'End of file from agent socket'))
      refuse(ErrorCode.agentUnresponsive, 'Guest agent not available for now')
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
    host.onAgent(THAW, (_, refuse) => {
      attempts++
      refuse(code, message)
    })
    expect(await runFrozen()).toBe('done')
    expect([attempts, host.warnings]).toEqual([1, ['fsthaw failed']])
  })
})
