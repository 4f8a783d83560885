import { afterAll, beforeAll, expect, test } from 'vitest'
import { Host, Param, StoppedDetail } from '../src/index.ts'
import type { Domain, EventName, EventOf } from '../src/index.ts'
import type { Box } from './sandboxed-libvirtd.ts'
import type { Boxes } from './sandbox-fleet.ts'
import { missingForSandbox } from './command.ts'
import { describeIf } from './describe-if.ts'
import { eventually } from './eventually.ts'
import { bootedTerminal, openBoxes, openTerminal, startGuest } from './fixture.ts'

describeIf(missingForSandbox())('live migration between two libvirtds', () => {
  let boxes: Boxes
  let here: Box
  let there: Box
  let source: Host
  let target: Host
  const seen: { kind: EventName; event: unknown }[] = []

  beforeAll(async () => {
    const opened = await openBoxes(2)
    boxes = opened.boxes
    here = opened.box
    there = opened.others[0] as Box
    source = await new Host({ endpoint: boxes.tls(here) }).whenUp()
    target = await new Host({ endpoint: boxes.tls(there) }).whenUp()
    for (const kind of ['lifecycle', 'migrationIteration', 'jobCompleted'] as const)
      await source.subscribe(kind, (event) => seen.push({ kind, event }))
  }, 120_000)
  afterAll(async () => {
    await Promise.all([source.close(), target.close()])
    await boxes.close()
  })

  test('moves a running guest, which goes on where it was', async () => {
    const guest = await startGuest(source, boxes, { name: 'mover', readOnly: true })
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
    const guest = await startGuest(source, boxes, { name: 'stayer', readOnly: true })
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
