// What only a real host can get wrong: a daemon that dies, bytes that arrive damaged, a guest that never comes up. Most guests here have an
// empty disk: their firmware looks for a system in vain, which is all the life these promises need.
import { readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingCommands } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { blankGuests, soon } from '../../../test/blank-guests.ts'
import { missingForLibvirtHost, uriWithFiles, type LibvirtHost } from '../../../test/libvirt-host.ts'
import { nativeArch } from '../../kernel/arch.ts'
import { newId } from '../../kernel/ids.ts'
import { collect, expectKind } from '../conformance/fixture.ts'
import { isDriverError } from '../driver.ts'
import { directAccess, type LocalAccess } from '../local-access.ts'
import { rootOf } from './core/endpoint.ts'

/** Of which this machine has an emulator. */
const EMULATED = (['x86_64', 'aarch64'] as const).filter((arch) => missingCommands(`qemu-system-${arch}`) === undefined)

describeIf(missingForLibvirtHost() ?? missingCommands(`qemu-system-${nativeArch()}`))('a libvirt host', () => {
  const guests = blankGuests()
  const { open, blank, start, qemu } = guests
  const templates = async (id: string) =>
    (await collect(open().listVolumes(soon()))).filter((each) => each.kind === 'template' && each.id === id).map((each) => each.complete)

  test('replaces a damaged template', async () => {
    const template = { id: 'damaged', slug: 'damaged', checksum: guests.image.checksum, arch: guests.image.arch, hasAgent: false }
    await expectKind(open({ image: { ...guests.image, checksum: 'sha256:other' } }).ensureTemplate(template, soon()), 'transient')
    expect(await templates('damaged')).toEqual([false])
    await open().ensureTemplate(template, soon())
    expect(await templates('damaged')).toEqual([true])
    await open().ensureNoTemplate('damaged', soon())
    expect(await templates('damaged')).toEqual([])
  })

  test.each(['1', '2', '3', '4', '5'])('gets a template once, however many processes upload it: round %s', async (round) => {
    const template = { id: `once${round}`, slug: 'once', checksum: guests.image.checksum, arch: guests.image.arch, hasAgent: false }
    await Promise.all([open(), open(), open()].map((driver) => driver.ensureTemplate(template, soon())))
    expect(await templates(template.id)).toEqual([true])
  })

  test('rejects a template of another architecture, and one without image', async () => {
    const arch = guests.image.arch === 'aarch64' ? 'x86_64' : 'aarch64'
    const template = { id: 'strange', slug: 'strange', checksum: '', arch, hasAgent: false } as const
    await expectKind(open().ensureTemplate(template, soon()), 'unsupported')
    expect(await templates('strange')).toEqual([])
  })

  test.each(['unix', 'tls'] as const)('reports the console tail of a guest that does not boot, over %s', async (way) => {
    const driver = way === 'tls' ? open(await overTls(guests.host)) : open()
    const spec = blank(true)
    await start(driver, spec)
    const failure = driver.ensureReady(spec.vmId, { timeoutMs: 20_000 }, soon())
    await expect(failure).rejects.toMatchObject({ kind: 'guest_failed', retry: false })
    const { consoleTail } = await failure.then(
      () => expect.unreachable(),
      (error: unknown) => error as { consoleTail: string[] },
    )
    expect(consoleTail.join('\n')).toMatch(/UEFI|Boot/)
  })

  test.each(EMULATED)('runs guests of %s', async (arch) => {
    const made = blank(false)
    const spec = { ...made, template: { ...made.template, id: arch.replace('_', ''), arch } }
    const driver = open({ image: { ...guests.image, arch } })
    await start(driver, spec)
    expect(await driver.ensureReady(spec.vmId, { timeoutMs: 1_000 }, soon())).toEqual({ readiness: 'booting' })
    expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running', vcpu: 1, ramMiB: spec.ramMiB })
  })

  test('keeps its guests when the daemon is killed, and calls wait until it has reconnected to them', async () => {
    const [driver, other] = [open(), open()]
    const spec = blank(false)
    await start(driver, spec)
    const before = await qemu(spec.vmId)
    await guests.host.sandbox.signalDaemon('KILL')
    const asked = [driver, other].map((each) => repeated(() => each.ensureRunning(spec, soon())))
    await Promise.all([guests.host.sandbox.startDaemon(), ...asked])
    expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running' })
    expect(await qemu(spec.vmId)).toBe(before)
  })

  test('restarts a guest that died together with the daemon', async () => {
    const driver = open()
    const spec = blank(false)
    await start(driver, spec)
    const before = await qemu(spec.vmId)
    await guests.host.sandbox.signalDaemon('KILL')
    await guests.host.sandbox.inside('kill', '-9', before.trim())
    await Promise.all([guests.host.sandbox.startDaemon(), repeated(() => driver.ensureRunning(spec, soon()))])
    expect(await qemu(spec.vmId)).not.toBe(before)
    expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running' })
  })

  test('reports the free disk space while guests write, without an extra volume', async () => {
    const filled = '/var/lib/libvirt/images/berth/filled'
    const free = async () => (await open().facts(soon())).diskFreeGiB
    const before = await free()
    await guests.host.sandbox.inside('fallocate', '-l', '6G', filled)
    expect(before - (await free())).toBeGreaterThan(3)
    await guests.host.sandbox.inside('rm', filled)
    await guests.host.sandbox.virsh('pool-refresh', 'berth')
    expect((await collect(open().listVolumes(soon()))).filter(({ kind }) => kind === 'unknown')).toEqual([])
    await guests.host.sandbox.inside('rmdir', '/var/lib/libvirt/images/berth/.space')
    for (const look of [free, free]) expect(before - (await look())).toBeLessThan(3)
    expect(await guests.host.sandbox.virsh('pool-list', '--name')).toContain('berth-space')
  })

  test('offers no disk space that the filesystem reserves for root', async () => {
    const uri = await uriWithFiles(guests.host)
    const { bavail, bsize } = await statfs(`${rootOf(uri)}/var/lib/libvirt/images/berth`)
    const { diskFreeGiB } = await open({ uri }).facts(soon())
    expect(Math.abs(diskFreeGiB - (bavail * bsize) / 2 ** 30)).toBeLessThan(3)
  })

  test('that is down is unreachable, soon', async () => {
    const driver = open({ uri: 'qemu+unix:///system?socket=/nowhere' })
    await expectKind(driver.findMachine(newId(), soon()), 'unreachable')
  })
})

/** As a workflow does, when the host says that it is worth it. */
async function repeated<T>(verb: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await verb()
    } catch (error) {
      if (!isDriverError(error) || !error.retry) throw error
    }
  }
}

/** With the certificates of the sandbox. */
async function overTls({ sandbox }: LibvirtHost): Promise<{ uri: string; access: LocalAccess }> {
  const read = (name: string): Promise<string> => readFile(join(sandbox.folder, 'pki', name), 'utf8')
  const files = new Map([
    ['ca.pem', await read('cacert.pem')],
    ['client.pem', await read('clientcert.pem')],
    ['client.key', await read('private/clientkey.pem')],
  ])
  return { uri: `qemu+tls://${sandbox.address}/system`, access: directAccess(() => Promise.resolve(files)) }
}
