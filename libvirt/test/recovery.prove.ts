import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConnectionLostError, Host } from '../src/index.ts'
import type { Domain, EventOf } from '../src/index.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import type { Sandboxes } from './sandbox-fleet.ts'
import { missingForSandbox } from './command.ts'
import { describeIf } from './describe-if.ts'
import { eventually } from './eventually.ts'
import { openSandboxes, openTerminal, startGuest } from './fixture.ts'

describeIf(missingForSandbox())('a libvirtd that is killed', () => {
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  beforeAll(async () => void ({ sandboxes, sandbox } = await openSandboxes(1)), 120_000)
  afterAll(() => sandboxes.close())

  test.each(['unix', 'tls'] as const)('over %s: its guests live on, nothing hangs, everything is listed again', async (kind) => {
    const lists: Domain[][] = []
    const events: EventOf<'lifecycle'>[] = []
    const onUp = async (one: Host) => void lists.push(await one.domains.listAll({ flags: ['active'] }))
    const host = new Host({ endpoint: sandboxes[kind](sandbox), onUp, backoff: { maxMs: 500 } })
    await host.subscribe('lifecycle', (event) => void events.push(event))
    await host.whenUp()
    const guests = [await startGuest(host, sandboxes, { name: `one-${kind}` }), await startGuest(host, sandboxes, { name: `two-${kind}` })]
    const pids = await qemuPids()
    const terminal = await openTerminal(host, guests[0] as Domain)
    const cut = new Promise((resolve) => terminal.stream.once('close', resolve))

    // A stopped daemon has four calls of each connection in flight; the others are queued here.
    await sandbox.signalDaemon('STOP')
    const slow = Promise.allSettled(guests.concat(guests, guests).map((domain) => host.domains.resume({ domain })))
    const quick = Promise.allSettled(guests.concat(guests, guests).map((domain) => host.domains.getState({ domain })))
    await sandbox.signalDaemon('KILL')
    for (const outcomes of [await slow, await quick]) {
      const lost = outcomes.map((one) => one.status === 'rejected' && one.reason instanceof ConnectionLostError && one.reason.outcome)
      expect(lost).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'not sent', 'not sent'])
    }
    await cut
    await eventually('the loss to be noticed', () => !host.isUp || undefined)
    await expect(host.domains.listAll()).rejects.toMatchObject({ outcome: 'not sent' })
    expect(await qemuPids()).toEqual(pids)

    await sandbox.startDaemon()
    await host.whenUp()
    expect(
      lists
        .at(-1)
        ?.map(({ uuid }) => uuid)
        .toSorted(),
    ).toEqual(guests.map(({ uuid }) => uuid).toSorted())
    for (const domain of guests) await adopted(host, domain)
    for (const domain of guests) await host.domains.destroy({ domain })
    for (const { uuid } of guests)
      await eventually('the event of its end', () => events.find((one) => one.domain.uuid === uuid && one.event === 5))
    expect((await sandbox.virsh('list', '--name')).trim()).toBe('')
    await host.close()
  })

  /** The daemon lists a guest before it has found its way back to its QEMU. */
  async function adopted(host: Host, domain: Domain): Promise<void> {
    const status = () => host.guests.monitorCommand({ domain, command: 'info status', flags: ['hmp'] })
    expect(await eventually('the guest to be adopted', status)).toContain('running')
  }

  const qemuPids = async () => (await sandbox.inside('sh', '-c', 'cat /run/libvirt/qemu/*.pid')).trim().split('\n').toSorted()
})
