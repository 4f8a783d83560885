import { afterAll, beforeAll, expect, test } from 'vitest'
import { Host, Param, StoppedDetail } from '../src/index.ts'
import type { Domain, EventName, EventOf } from '../src/index.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import type { Sandboxes } from './sandbox-fleet.ts'
import { missingForSandbox } from './command.ts'
import { describeIf } from './describe-if.ts'
import { eventually } from './eventually.ts'
import { bootedTerminal, openSandboxes, openTerminal, startGuest } from './fixture.ts'

describeIf(missingForSandbox())('live migration between two libvirtds', () => {
  let sandboxes: Sandboxes
  let here: Sandbox
  let there: Sandbox
  let source: Host
  let target: Host
  const seen: { kind: EventName; event: unknown }[] = []

  beforeAll(async () => {
    const opened = await openSandboxes(2)
    sandboxes = opened.sandboxes
    here = opened.sandbox
    there = opened.others[0] as Sandbox
    source = await new Host({ endpoint: sandboxes.tls(here) }).whenUp()
    target = await new Host({ endpoint: sandboxes.tls(there) }).whenUp()
    for (const kind of ['lifecycle', 'migrationIteration', 'jobCompleted'] as const)
      await source.subscribe(kind, (event) => seen.push({ kind, event }))
  }, 120_000)
  afterAll(async () => {
    await Promise.all([source.close(), target.close()])
    await sandboxes.close()
  })

  test('moves a running guest, which goes on where it was', async () => {
    const guest = await startGuest(source, sandboxes, { name: 'mover', readOnly: true })
    const before = await bootedTerminal(source, guest)
    before.write('here')
    await before.hears('here')

    const destination = `qemu+tls://${there.address}/system`
    const parameters = { migrate_uri: Param.string(`tcp://${there.address}`) }
    const flags = ['live', 'peer2peer', 'persistDest', 'undefineSource'] as const
    await source.migration.perform({ domain: guest, destination, parameters, flags }, { timeoutMs: 120_000 })

    expect((await here.virsh('list', '--all', '--name')).trim()).toBe('')
    expect(await there.virsh('domstate', 'mover')).toContain('running')
    const moved: Domain = await target.domains.lookupByUuid({ uuid: guest.uuid })
    const after = await openTerminal(target, moved)
    after.write('there')
    await after.hears('there')
    const stopped = (event: EventOf<'lifecycle'>) => event.event === 5 && event.detail === StoppedDetail.migrated
    await eventually('the source to tell', () => seen.find((one) => one.kind === 'lifecycle' && stopped(one.event as EventOf<'lifecycle'>)))
    expect(seen.map((one) => one.kind)).toEqual(expect.arrayContaining(['migrationIteration', 'jobCompleted']))
    await target.domains.destroy({ domain: moved })
  })

  test('a migration to a host that refuses it leaves the guest where it is', async () => {
    const guest = await startGuest(source, sandboxes, { name: 'stayer', readOnly: true })
    const nowhere = source.migration.perform({
      domain: guest,
      destination: `qemu+tls://${there.address}:1/system`,
      flags: ['live', 'peer2peer'],
    })
    await expect(nowhere).rejects.toMatchObject({ name: 'RemoteError', outcome: 'refused' })
    expect(await here.virsh('domstate', 'stayer')).toContain('running')
    await source.domains.destroy({ domain: guest })
  })
})
