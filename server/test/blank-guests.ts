// Guests without an operating system on a real host, which is enough for many tests. Their serial console says so: UEFI writes there that it
// finds nothing to boot; the PC's BIOS writes nothing, so the disk has a boot sector that does.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { run } from '../../libvirt/test/command.ts'
import { TEMPLATE } from '../src/hypervisor/conformance/fixture.ts'
import type { Driver, MachineSpec } from '../src/hypervisor/driver.ts'
import { libvirtDrivers } from '../src/hypervisor/libvirt/driver.ts'
import type { Image } from '../src/hypervisor/image-source.ts'
import { directAccess, type LocalAccess } from '../src/hypervisor/local-access.ts'
import { nativeArch } from '../src/kernel/arch.ts'
import { newId } from '../src/kernel/ids.ts'
import { openLibvirtHost, type LibvirtHost } from './libvirt-host.ts'
import { specMaker } from './libvirt-driver-fixture.ts'

export const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** For all tests of the enclosing block; guests are removed after each test. */
export function blankGuests() {
  let host: LibvirtHost
  let image: Image
  const opened: Driver[] = []
  const made: string[] = []

  beforeAll(async () => {
    host = await openLibvirtHost()
    image = await blankImage(host.sandbox.folder)
  })
  afterEach(async () => {
    for (const vmId of made.splice(0)) await open().ensurePurged(vmId, soon())
    for (const driver of opened.splice(0)) await driver.close()
  })
  afterAll(() => host.close())

  const open = (options: { image?: Image; isoPath?: string; uri?: string; access?: LocalAccess } = {}): Driver => {
    const images = { open: () => Promise.resolve(options.image ?? image) }
    const isos = options.isoPath === undefined ? undefined : { openIso: () => Promise.resolve({ path: options.isoPath! }) }
    const drivers = libvirtDrivers({ log: pino({ level: 'silent' }), images, isos, access: options.access ?? directAccess() })
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
    await driver.ensureDisk(spec, TEMPLATE, soon())
    await driver.ensureRunning(spec, soon())
  }
  const qemu = async (vmId: string): Promise<string> => host.sandbox.inside('sh', '-c', `cat /run/libvirt/qemu/berth-${vmId}.pid || true`)

  return {
    get host(): LibvirtHost {
      return host
    },
    get image(): Image {
      return image
    },
    open,
    /** A new VM each time. */
    blank,
    start,
    /** The pid of its QEMU process. */
    qemu,
  }
}

async function blankImage(folder: string): Promise<Image> {
  const [raw, path] = [join(folder, 'blank.raw'), join(folder, 'blank.qcow2')]
  await writeFile(raw, bootSector('Boot: no operating system'))
  await truncate(raw, BLANK_BYTES)
  await run('qemu-img', 'convert', '-q', '-O', 'qcow2', raw, path)
  return imageIn(path, nativeArch(), BLANK_BYTES)
}

const BLANK_BYTES = 2 ** 26

/** x86 code that writes a line to the first serial port at every timer interrupt. */
function bootSector(line: string): Buffer {
  const setUp = [0xfb, 0x31, 0xc0, 0x8e, 0xd8] // sti; xor ax, ax; mov ds, ax
  const rewind = [0xbe, 0x16, 0x7c] // mov si, the address of the line
  const write = [0xac, 0x84, 0xc0, 0x74, 0x06, 0xba, 0xf8, 0x03, 0xee, 0xeb, 0xf5] // until 0: lodsb; out 0x3f8, al
  const wait = [0xf4, 0xeb, 0xef] // hlt; jmp rewind
  const sector = Buffer.alloc(512)
  sector.set([...setUp, ...rewind, ...write, ...wait, ...Buffer.from(`${line}\r\n\0`)])
  sector.set([0x55, 0xaa], 510)
  return sector
}

export function imageIn(path: string, arch: Image['arch'], virtualBytes: number): Image {
  const bytes = readFileSync(path)
  const checksum = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  return { path, format: 'qcow2', arch, virtualBytes, fileBytes: bytes.length, checksum }
}
