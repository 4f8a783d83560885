import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Host, MetadataType } from '../src/index.ts'
import type { Domain, EventName, Named } from '../src/index.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import type { Sandboxes } from './sandbox-fleet.ts'
import { missingForSandbox } from './command.ts'
import { describeIf } from './describe-if.ts'
import { eventually } from './eventually.ts'
import { bootedTerminal, openSandboxes, startGuest, startPool } from './fixture.ts'

const kinds = [
  'lifecycle',
  'reboot',
  'watchdog',
  'ioError',
  'agent',
  'deviceAdded',
  'deviceRemoved',
  'metadataChange',
  'blockJob',
  'blockJobByPath',
  'blockThreshold',
  'jobCompleted',
  'networkLifecycle',
  'poolLifecycle',
  'poolRefresh',
] as const satisfies EventName[]

describeIf(missingForSandbox())('events of a real libvirtd', () => {
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  let host: Host
  let guest: Domain
  let pool: Named
  let terminal: Awaited<ReturnType<typeof bootedTerminal>>
  const seen: { kind: EventName; event: unknown }[] = []

  beforeAll(async () => {
    ;({ sandboxes, sandbox } = await openSandboxes(1))
    host = await new Host({ endpoint: sandboxes.tls(sandbox) }).whenUp()
    for (const kind of kinds) await host.subscribe(kind, (event) => seen.push({ kind, event }))
  }, 120_000)
  afterAll(async () => {
    await host.close()
    await sandboxes.close()
  })

  /** The first event of that kind from now on that looks like this. */
  async function expectEvent(kind: EventName, shape: object, action: () => Promise<unknown>): Promise<void> {
    const before = seen.length
    await action()
    const fits = (event: unknown) => expect.objectContaining(shape).asymmetricMatch(event)
    await eventually(`${kind} ${inspect(shape)}`, () => seen.slice(before).find((one) => one.kind === kind && fits(one.event)))
    expect(seen.slice(before).map((one) => one.kind)).toContain(kind)
  }
  const ofGuest = () => ({ domain: expect.objectContaining({ uuid: guest.uuid }) })

  test('pools and networks', async () => {
    await expectEvent(
      'poolLifecycle',
      { event: 2, pool: expect.objectContaining({ name: 'events' }) },
      async () => (pool = await startPool(host, 'events')),
    )
    await expectEvent('poolRefresh', { pool: expect.objectContaining({ name: 'events' }) }, () => host.pools.refresh({ pool }))
    const network = await host.networks.define({ xml: "<network><name>quiet</name><bridge name='br-quiet'/></network>" })
    await expectEvent('networkLifecycle', { event: 2, network }, () => host.networks.create({ network }))
  })

  test('a start: lifecycle, and an agent that is not there', async () => {
    await expectEvent(
      'agent',
      { state: 2, domain: expect.objectContaining({ name: 'events' }) },
      async () => (guest = await startGuest(host, sandboxes, { name: 'events' })),
    )
    expect(seen).toContainEqual({ kind: 'lifecycle', event: expect.objectContaining({ event: 2, domain: guest }) })
    terminal = await bootedTerminal(host, guest)
  })

  test('what the guest does: watchdog, reboot', async () => {
    await expectEvent('watchdog', ofGuest(), async () => terminal.write('W'))
    await expectEvent('reboot', ofGuest(), async () => terminal.write('R'))
  })

  test('devices and metadata', async () => {
    const xml = "<input type='tablet' bus='usb'><alias name='ua-tablet'/></input>"
    await expectEvent('deviceAdded', { ...ofGuest(), alias: 'ua-tablet' }, () =>
      host.domains.attachDevice({ domain: guest, xml, flags: ['live'] }),
    )
    await expectEvent('deviceRemoved', { ...ofGuest(), alias: 'ua-tablet' }, () =>
      host.domains.detachDevice({ domain: guest, xml, flags: ['live'] }),
    )
    const title = { domain: guest, type: MetadataType.title, metadata: 'new', flags: ['live'] as const }
    await expectEvent('metadataChange', { ...ofGuest(), type: 1 }, () => host.domains.setMetadata(title))
  })

  test('jobs on disks: copies and a backup', async () => {
    const copy = `<disk type='file'><source file='${join(sandboxes.folder, 'mirror.img')}'/><driver type='raw'/></disk>`
    const begin = () => host.blockJobs.copy({ domain: guest, path: 'vda', destinationXml: copy, flags: ['transientJob'] })
    await expectEvent('blockJob', { ...ofGuest(), disk: 'vda', status: 3 }, begin)
    await expectEvent('blockJobByPath', { ...ofGuest(), status: 2 }, () => host.blockJobs.abort({ domain: guest, disk: 'vda' }))
    const target = `<disks><disk name='vda' backup='yes' type='file'><target file='${join(sandboxes.folder, 'backup.img')}'/><driver type='raw'/></disk></disks>`
    await expectEvent('jobCompleted', { ...ofGuest(), stats: expect.objectContaining({ operation: expect.any(Number) }) }, () =>
      host.backups.begin({ domain: guest, xml: `<domainbackup mode='push'>${target}</domainbackup>` }),
    )
  })

  test('a full disk and a threshold', async () => {
    await sandbox.inside(
      'sh',
      '-c',
      'mkdir /run/libvirt/small && mount -t tmpfs -o size=400k tmpfs /run/libvirt/small && qemu-img create -q -f qcow2 /run/libvirt/small/disk 8M',
    )
    await sandbox.inside(
      'sh',
      '-c',
      `dd if=${sandboxes.folder}/events.img of=/run/libvirt/small/raw bs=512 count=1 2>/dev/null; qemu-img convert -O qcow2 /run/libvirt/small/raw /run/libvirt/small/disk; qemu-img resize -q /run/libvirt/small/disk 8M`,
    )
    const { domain, typing } = await bootFrom('/run/libvirt/small/disk')
    const nodes = await host.guests.monitorCommand({ domain, command: '{"execute":"query-named-block-nodes","arguments":{"flat":true}}' })
    const file = (JSON.parse(nodes) as { return: { 'node-name': string; drv: string }[] }).return.find((node) => node.drv === 'file')
    const order = { execute: 'block-set-write-threshold', arguments: { 'node-name': file?.['node-name'], 'write-threshold': 1 } }
    await host.guests.monitorCommand({ domain, command: JSON.stringify(order) })
    await sandbox.inside('sh', '-c', 'dd if=/dev/zero of=/run/libvirt/small/full bs=1k 2>/dev/null; true')
    await expectEvent('blockThreshold', { disk: expect.stringMatching(/^vda/), threshold: 1n }, async () => typing.write('D'))
    await eventually('the full disk', () => seen.find((one) => one.kind === 'ioError'))
    await host.domains.destroy({ domain })
  })

  async function bootFrom(disk: string) {
    const xml = (await host.domains.getXml({ domain: guest, flags: ['inactive'] }))
      .replace('<name>events</name>', '<name>small</name>')
      .replace(/<uuid>.*<\/uuid>/, '')
      .replace(/<source file='[^']*events.img'/, `<source file='${disk}'`)
      .replace(/(<driver name='qemu' type=)'raw'/, "$1'qcow2'")
    const domain = await host.domains.createXml({ xml })
    return { domain, typing: await bootedTerminal(host, domain) }
  }

  test('the end of the guest, by its own will', async () => {
    terminal = await bootedTerminal(
      host,
      await host.domains.lookupByName({ name: 'events' }).then(async (domain) => (await host.domains.reset({ domain }), domain)),
    )
    await expectEvent('lifecycle', { ...ofGuest(), event: 5, detail: 0 }, async () => terminal.write('P'))
  })

  test('no kind was missing', () => {
    expect(kinds.filter((kind) => !seen.some((one) => one.kind === kind))).toEqual([])
  })
})
