// What only a real host can get wrong: a daemon that dies, bytes that arrive damaged, a guest that never comes up. Most guests here have an
// empty disk: their firmware looks for a system in vain, which is all the life these promises need.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { canBox, hasCommands, run } from '../../../../libvirt/test/command.ts'
import { eventually } from '../../../../libvirt/test/eventually.ts'
import { losePower, openLibvirtHost, returnPower, type LibvirtHost } from '../../../test/libvirt-host.ts'
import { specMaker } from '../../../test/libvirt-rig.ts'
import { nativeArch } from '../../images/arch.ts'
import { newId } from '../../kernel/ids.ts'
import { collect, expectKind, OPEN, TEMPLATE } from '../conformance/rig.ts'
import { isDriverError, type Driver, type MachineSpec } from '../driver.ts'
import { libvirtDrivers } from './driver.ts'
import type { Image } from './image-source.ts'

/** Of which this machine has an emulator. */
const EMULATED = (['x86_64', 'aarch64'] as const).filter((arch) => hasCommands(`qemu-system-${arch}`))

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

describe.runIf(canBox() && hasCommands(`qemu-system-${nativeArch()}`))('a libvirt host', () => {
  let host: LibvirtHost
  let image: Image
  const opened: Driver[] = []
  const made: string[] = []

  beforeAll(async () => {
    host = await openLibvirtHost()
    image = await blankImage(host.box.folder)
  })
  afterEach(async () => {
    for (const vmId of made.splice(0)) await open().ensureGone(vmId, soon())
    for (const driver of opened.splice(0)) await driver.close()
  })
  afterAll(() => host.close())

  const open = (options: { image?: Image; uri?: string; dataDir?: string } = {}): Driver => {
    const images = { open: () => Promise.resolve(options.image ?? image) }
    const drivers = libvirtDrivers({ log: pino({ level: 'silent' }), images, dataDir: options.dataDir ?? host.box.folder })
    const driver = drivers({ id: newId(), driver: 'libvirt', uri: options.uri ?? host.uri })
    opened.push(driver)
    return driver
  }
  const newSpec = specMaker('10.77.0.1')
  const blank = (hasAgent: boolean): MachineSpec => {
    const spec = newSpec({ id: 'blank', slug: 'blank', checksum: image.checksum, arch: image.arch, hasAgent }, { diskGiB: 1 })
    made.push(spec.vmId)
    return spec
  }
  const start = async (driver: Driver, spec: MachineSpec): Promise<void> => {
    await driver.ensureFilter(spec.vmId, OPEN, soon())
    await driver.ensureDisk(spec, TEMPLATE, soon())
    await driver.ensureRunning(spec, soon())
  }
  const templates = async (id: string) =>
    (await collect(open().listVolumes(soon()))).filter((each) => each.kind === 'template' && each.id === id).map((each) => each.complete)
  const qemu = async (vmId: string): Promise<string> => host.box.inside('sh', '-c', `cat /run/libvirt/qemu/berth-${vmId}.pid || true`)

  test('does not take a damaged template for whole, and gets a sound one in its place', async () => {
    const template = { id: 'damaged', slug: 'damaged', checksum: image.checksum, arch: image.arch, hasAgent: false }
    await expectKind(open({ image: { ...image, checksum: 'sha256:other' } }).ensureTemplate(template, soon()), 'transient')
    expect(await templates('damaged')).toEqual([false])
    await open().ensureTemplate(template, soon())
    expect(await templates('damaged')).toEqual([true])
    await open().ensureNoTemplate('damaged', soon())
    expect(await templates('damaged')).toEqual([])
  })

  test.each(['1', '2', '3', '4', '5'])('gets a template once, however many processes carry it: round %s', async (round) => {
    const template = { id: `once${round}`, slug: 'once', checksum: image.checksum, arch: image.arch, hasAgent: false }
    await Promise.all([open(), open(), open()].map((driver) => driver.ensureTemplate(template, soon())))
    expect(await templates(template.id)).toEqual([true])
  })

  test('refuses a template of another architecture, and one without an image', async () => {
    const arch = image.arch === 'aarch64' ? 'x86_64' : 'aarch64'
    const template = { id: 'strange', slug: 'strange', checksum: '', arch, hasAgent: false } as const
    await expectKind(open().ensureTemplate(template, soon()), 'unsupported')
    expect(await templates('strange')).toEqual([])
  })

  test.each(['unix', 'tls'] as const)('tells the last words of a guest that never comes up, over %s', async (way) => {
    const driver = way === 'tls' ? open(await overTls(host)) : open()
    const spec = blank(true)
    await start(driver, spec)
    const failure = driver.ensureReady(spec.vmId, { timeoutMs: 20_000 }, soon())
    await expect(failure).rejects.toMatchObject({ kind: 'guest_failed', retry: false })
    const { consoleTail } = await failure.then(
      () => expect.unreachable(),
      (error: unknown) => error as { consoleTail: string[] },
    )
    expect(consoleTail.join('\n')).toMatch(/UEFI|Boot|SeaBIOS/)
  })

  test.each(EMULATED)('runs guests of %s', async (arch) => {
    const made = blank(false)
    const spec = { ...made, template: { ...made.template, id: arch.replace('_', ''), arch } }
    const driver = open({ image: { ...image, arch } })
    await start(driver, spec)
    expect(await driver.ensureReady(spec.vmId, { timeoutMs: 1_000 }, soon())).toEqual({ readiness: 'booting' })
    expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running', vcpu: 1, ramMiB: spec.ramMiB })
  })

  test.runIf(EMULATED.includes('x86_64'))('wakes a guest that has put itself to sleep', async () => {
    const made = blank(false)
    const spec = { ...made, template: { ...made.template, id: 'sleeper', arch: 'x86_64' } } as const
    const driver = open({ image: await sleepyImage(host.box.folder) })
    const becomes = (power: string) =>
      eventually(`the guest to be ${power}`, async () => (await driver.findMachine(spec.vmId, soon()))?.power === power, 60_000)
    await start(driver, spec)
    await becomes('paused')
    await driver.ensureRunning(spec, soon())
    expect(await becomes('running')).toBe(true)
  })

  test('keeps its guests when the daemon is killed, and no verb acts before it has them in hand again', async () => {
    const [driver, other] = [open(), open()]
    const spec = blank(false)
    await start(driver, spec)
    const before = await qemu(spec.vmId)
    await host.box.signalDaemon('KILL')
    const asked = [driver, other].map((each) => repeated(() => each.ensureRunning(spec, soon())))
    await Promise.all([host.box.startDaemon(), ...asked])
    expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running' })
    expect(await qemu(spec.vmId)).toBe(before)
  })

  test('starts a guest anew that died together with the daemon', async () => {
    const driver = open()
    const spec = blank(false)
    await start(driver, spec)
    const before = await qemu(spec.vmId)
    await host.box.signalDaemon('KILL')
    await host.box.inside('kill', '-9', before.trim())
    await Promise.all([host.box.startDaemon(), repeated(() => driver.ensureRunning(spec, soon()))])
    expect(await qemu(spec.vmId)).not.toBe(before)
    expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running' })
  })

  describe('where a crash broke the record of what changed since a backup', () => {
    const GROWN = { diskGiB: 2 }
    /** Two backups, and a QEMU that died after it had opened the disk with the records of them. */
    const crash = async (driver: Driver, spec: MachineSpec): Promise<string> => {
      const [full, next] = [newId(), newId()]
      await driver.ensureBackup(spec.vmId, { backupId: full, parentId: null }, soon())
      await driver.ensureBackup(spec.vmId, { backupId: next, parentId: full }, soon())
      await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
      await driver.ensureRunning(spec, soon())
      await host.box.inside('kill', '-9', (await qemu(spec.vmId)).trim())
      await eventually('the end', async () => (await driver.findMachine(spec.vmId, soon()))?.power === 'stopped')
      expect((await records(spec)).filter(({ flags }) => flags.includes('in-use'))).toHaveLength(2)
      return next
    }
    const records = async ({ vmId }: MachineSpec): Promise<{ name: string; flags: string[] }[]> => {
      const said = await host.box.inside('qemu-img', 'info', '-U', '--output=json', `/var/lib/libvirt/images/berth/vm-${vmId}-1.qcow2`)
      return (JSON.parse(said) as { 'format-specific': { data: { bitmaps?: [] } } })['format-specific'].data.bitmaps ?? []
    }

    test('a disk at rest grows all the same, and nothing keeps it open', async () => {
      const driver = open()
      const spec = blank(false)
      await start(driver, spec)
      await crash(driver, spec)
      expect(await driver.ensureShape({ ...spec, ...GROWN }, soon())).toEqual(GROWN)
      expect((await host.box.virsh('list', '--all', '--name')).trim()).toBe(`berth-${spec.vmId}`)
      expect(await records(spec)).toEqual([])
      await driver.ensureRunning({ ...spec, ...GROWN }, soon())
      expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running' })
    })

    test('so does a running one, and the next backup is a full one', async () => {
      const driver = open()
      const spec = blank(false)
      await start(driver, spec)
      const parentId = await crash(driver, spec)
      await driver.ensureRunning(spec, soon())
      expect(await driver.ensureShape({ ...spec, ...GROWN }, soon())).toEqual(GROWN)
      const backup = await driver.ensureBackup(spec.vmId, { backupId: newId(), parentId }, soon())
      expect(backup).toMatchObject({ parentId: null })
    })
  })

  describe('when a stop was given up', () => {
    const giveUp = async (driver: Driver): Promise<MachineSpec> => {
      const spec = blank(false)
      await start(driver, spec)
      const cut = new AbortController()
      const stopping = expectKind(driver.ensureStopped(spec.vmId, { graceMs: 120_000 }, cut.signal), 'aborted')
      await eventually('the order', async () => (await host.box.virsh('dumpxml', `berth-${spec.vmId}`)).includes('stop="ordered"'))
      cut.abort()
      await stopping
      return spec
    }
    const whyOff = async (driver: Driver, { vmId }: MachineSpec) => (await driver.findMachine(vmId, soon()))?.stopReason

    test('and arrives all the same, it was a stop; unless the machine was ordered to run since', async () => {
      const driver = open()
      const spec = await giveUp(driver)
      await host.box.virsh('destroy', `berth-${spec.vmId}`)
      expect(await whyOff(driver, spec)).toBe('user')
      const other = await giveUp(driver)
      await driver.ensureRunning(other, soon())
      await host.box.virsh('destroy', `berth-${other.vmId}`)
      expect(await whyOff(driver, other)).toBe('host')
    })

    test('and the host loses its power, it was the power; what was stopped, or is once more told to, stays stopped', async () => {
      const driver = open()
      const stopped = blank(false)
      await start(driver, stopped)
      await driver.ensureStopped(stopped.vmId, { graceMs: 0 }, soon())
      const [left, repeated] = [await giveUp(driver), await giveUp(driver)]
      await losePower(host.box)
      await returnPower(host.box)
      expect(await driver.ensureStopped(repeated.vmId, { graceMs: 0 }, soon())).toEqual({ how: 'already' })
      expect(await Promise.all([stopped, left, repeated].map((spec) => whyOff(driver, spec)))).toEqual(['user', 'host', 'user'])
    })
  })

  test('tells how much of its disk is free while guests fill it, and has no volume more for that', async () => {
    const filled = '/var/lib/libvirt/images/berth/filled'
    const free = async () => (await open().facts(soon())).diskFreeGiB
    const before = await free()
    await host.box.inside('fallocate', '-l', '6G', filled)
    expect(before - (await free())).toBeGreaterThan(3)
    await host.box.inside('rm', filled)
    await host.box.virsh('pool-refresh', 'berth')
    expect((await collect(open().listVolumes(soon()))).filter(({ kind }) => kind === 'unknown')).toEqual([])
    await host.box.inside('rmdir', '/var/lib/libvirt/images/berth/.space')
    for (const look of [free, free]) expect(before - (await look())).toBeLessThan(3)
    expect(await host.box.virsh('pool-list', '--name')).toContain('berth-space')
  })

  test('that is away is unreachable, soon', async () => {
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

async function blankImage(folder: string): Promise<Image> {
  const path = join(folder, 'blank.qcow2')
  await run('qemu-img', 'create', '-q', '-f', 'qcow2', path, '64M')
  return imageIn(path, nativeArch(), 2 ** 26)
}

/** A boot sector for q35 which asks the power management for S3, once: it leaves a note in the memory of the clock. */
const SLEEP_ONCE = 'b060e670e4713c5a740f b060e670b05ae671 ba0406b80024ef faf4ebfd'

async function sleepyImage(folder: string): Promise<Image> {
  const [raw, path] = [join(folder, 'sleepy.raw'), join(folder, 'sleepy.qcow2')]
  const sector = Buffer.from(SLEEP_ONCE.replaceAll(' ', '').padEnd(1020, '0') + '55aa', 'hex')
  await writeFile(raw, Buffer.concat([sector], 2 ** 20))
  await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, path)
  return imageIn(path, 'x86_64', 2 ** 20)
}

function imageIn(path: string, arch: Image['arch'], virtualBytes: number): Image {
  const bytes = readFileSync(path)
  const checksum = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  return { path, format: 'qcow2', arch, virtualBytes, fileBytes: bytes.length, checksum }
}

/** The certificates of the box, where a control plane keeps its own. */
async function overTls({ box }: LibvirtHost): Promise<{ uri: string; dataDir: string }> {
  const dataDir = join(box.folder, 'control-plane')
  await mkdir(join(dataDir, 'pki'), { recursive: true })
  const files = { 'cacert.pem': 'ca.pem', 'clientcert.pem': 'client.pem', 'private/clientkey.pem': 'client.key' }
  for (const [from, to] of Object.entries(files)) await copyFile(join(box.folder, 'pki', from), join(dataDir, 'pki', to))
  return { uri: `qemu+tls://${box.address}/system`, dataDir }
}
