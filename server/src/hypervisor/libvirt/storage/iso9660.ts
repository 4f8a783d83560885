// Writes an ISO 9660 image of a few small files in its root, for cloud-init seeds. Names have the standard's strict form; Rock Ridge adds the
// real ones, which Linux and the BSDs show.

const SECTOR = 2048
const FIRST_DIRECTORY_SECTOR = 20
const FIRST_FILE_SECTOR = 21

export type Files = Record<string, string>

interface Placed {
  name: string
  /** In the order of the directory: `F0.;1` and so on; nobody reads them. */
  isoName: string
  sector: number
  content: Buffer
}

/** The directory must fit its one sector, which a dozen files do. */
export function isoImage(label: string, files: Files): Buffer {
  const placed = place(files)
  const last = placed.at(-1)
  const sectors = last ? last.sector + sectorsOf(last.content) : FIRST_FILE_SECTOR
  const image = Buffer.alloc(sectors * SECTOR)
  image.set(primaryDescriptor(label, sectors), 16 * SECTOR)
  image.set([255, ...Buffer.from('CD001'), 1], 17 * SECTOR)
  image.set(pathTable(littleEndian), 18 * SECTOR)
  image.set(pathTable(bigEndian), 19 * SECTOR)
  const root = Buffer.concat([self(), parent(), ...placed.map(fileRecord)])
  if (root.length > SECTOR) throw new Error(`BUG: ${placed.length} files do not fit the directory of an image`)
  image.set(root, FIRST_DIRECTORY_SECTOR * SECTOR)
  for (const { sector, content } of placed) image.set(content, sector * SECTOR)
  return image
}

function place(files: Files): Placed[] {
  let sector = FIRST_FILE_SECTOR
  return Object.entries(files).map(([name, text], index) => {
    const content = Buffer.from(text)
    const placed = { name, isoName: `F${index}.;1`, sector, content }
    sector += sectorsOf(content)
    return placed
  })
}

const sectorsOf = (content: Buffer): number => Math.max(1, Math.ceil(content.length / SECTOR))

function littleEndian(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntLE(value, 0, bytes)
  return buffer
}

const bigEndian = (value: number, bytes: number): Buffer => littleEndian(value, bytes).reverse()
/** The standard wants most numbers twice. */
const both = (value: number, bytes: number): Buffer => Buffer.concat([littleEndian(value, bytes), bigEndian(value, bytes)])

function primaryDescriptor(label: string, sectors: number): Buffer {
  const descriptor = Buffer.alloc(SECTOR)
  descriptor.fill(' ', 8, 72).fill(' ', 190, 813)
  descriptor.set([1, ...Buffer.from('CD001'), 1], 0)
  descriptor.write(label, 40, 32, 'latin1')
  descriptor.set(both(sectors, 4), 80)
  descriptor.set(both(1, 2), 120)
  descriptor.set(both(1, 2), 124)
  descriptor.set(both(SECTOR, 2), 128)
  descriptor.set(both(pathTable(littleEndian).length, 4), 132)
  descriptor.set(littleEndian(18, 4), 140)
  descriptor.set(bigEndian(19, 4), 148)
  descriptor.set(record('\0', FIRST_DIRECTORY_SECTOR, SECTOR, { isDirectory: true }), 156)
  // Four dates that are "not specified": sixteen digits 0 and a zone of 0.
  for (const at of [813, 830, 847, 864]) descriptor.fill('0', at, at + 16)
  descriptor[881] = 1
  return descriptor
}

/** Its only entry is the root, whose parent is itself. */
function pathTable(number: (value: number, bytes: number) => Buffer): Buffer {
  return Buffer.from([1, 0, ...number(FIRST_DIRECTORY_SECTOR, 4), ...number(1, 2), 0, 0])
}

const self = (): Buffer =>
  record('\0', FIRST_DIRECTORY_SECTOR, SECTOR, {
    isDirectory: true,
    system: Buffer.concat([startOfExtensions(), mode(0o040755), rockRidge()]),
  })
const parent = (): Buffer => record('\x01', FIRST_DIRECTORY_SECTOR, SECTOR, { isDirectory: true, system: mode(0o040755) })
const fileRecord = ({ name, isoName, sector, content }: Placed): Buffer =>
  record(isoName, sector, content.length, { isDirectory: false, system: Buffer.concat([mode(0o100444), realName(name)]) })

function record(
  name: string,
  sector: number,
  bytes: number,
  { isDirectory, system = Buffer.alloc(0) }: { isDirectory: boolean; system?: Buffer },
): Buffer {
  const padding = name.length % 2 === 0 ? 1 : 0
  const length = 33 + name.length + padding + system.length
  const made = Buffer.alloc(length + (length % 2))
  made[0] = made.length
  made.set(both(sector, 4), 2)
  made.set(both(bytes, 4), 10)
  made.set([70, 1, 1, 0, 0, 0, 0], 18)
  made[25] = isDirectory ? 2 : 0
  made.set(both(1, 2), 28)
  made[32] = name.length
  made.write(name, 33, 'latin1')
  made.set(system, 33 + name.length + padding)
  return made
}

const field = (signature: string, ...content: (Buffer | number[])[]): Buffer => {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.from(signature), Buffer.from([body.length + 4, 1]), body])
}
const startOfExtensions = (): Buffer => field('SP', [0xbe, 0xef, 0])
const rockRidge = (): Buffer => field('ER', [10, 4, 4, 1], Buffer.from('RRIP_1991ARRIPRRIP'))
/** Mode, links, user and group. */
const mode = (bits: number): Buffer => field('PX', both(bits, 4), both(1, 4), both(0, 4), both(0, 4))
const realName = (name: string): Buffer => field('NM', [0], Buffer.from(name))
