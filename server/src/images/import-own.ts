// Makes a clean image of a file that a customer named: unpacked within limits, checked before any program but ours and xz reads it, and written anew, so
// that nothing of its structure reaches a host. All limits hold for each program too; none of them runs as root.
import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { isInstalled, run, stream, type RunOptions } from './external-tools.ts'
import { checksumOf, ImageRefusedError, type ImageKind, type WorkFolder } from './own-images.ts'
import { inspectImage } from './validate-image.ts'

export interface ImportOrder {
  kind: ImageKind
  /** `sha256:` and 64 hex digits, of the file as it is received. */
  checksum: string
  maxBytes: number
  /** Passes on what is unpacked. */
  count?: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}

const [GZIP, ZSTD, XZ] = [Buffer.from('1f8b', 'hex'), Buffer.from('28b52ffd', 'hex'), Buffer.from('fd377a585a00', 'hex')]
const CONVERT_CPU_SECONDS = 1_800
const MEMORY_BYTES = 2 * 1024 ** 3
/** More than the highest level of xz needs, which is 65 MiB; files can ask for as much as they like. */
const XZ_MEMORY = '256MiB'

/** Returns the path of the image. `received` is a file in the work folder. */
export async function importOwn(
  work: WorkFolder,
  received: string,
  { kind, checksum, maxBytes, count = (bytes) => bytes }: ImportOrder,
  signal: AbortSignal,
): Promise<string> {
  const found = await checksumOf(received)
  if (found !== checksum)
    throw new ImageRefusedError(`The file has the checksum ${found}, not ${checksum}: it is damaged, modified or a newer version`)
  const limits = { memoryBytes: MEMORY_BYTES, cpuSeconds: CONVERT_CPU_SECONDS, fileBytes: 0 }
  const reading: RunOptions = { signal, cwd: work.path, isUnprivileged: true, limits }
  const save = (bytes: AsyncIterable<Buffer>): Promise<string> =>
    work.save('unpacked', Readable.from(count(bytes), { objectMode: false }), maxBytes)
  const file = await unpack(received, save, reading)
  if (kind === 'ISO') return requireIso(file)
  const room = Math.max(0, await work.room())
  const isolated: RunOptions = { ...reading, limits: { ...limits, fileBytes: Math.min(maxBytes, room) } }
  const { format } = await inspectImage(file, signal, isolated).catch(refuse)
  const output = join(work.path, 'image.qcow2')
  await run(
    'qemu-img',
    ['convert', '-f', format, '-O', 'qcow2', '-o', 'compat=1.1', `./${basename(file)}`, `./${basename(output)}`],
    isolated,
  ).catch((error: unknown) => {
    if (room < maxBytes) throw error // it may be the disk that was too small
    refuse(error)
  })
  await inspectImage(output, signal, isolated).catch(refuse)
  return output
}

/** A file that the tools refuse is refused again at the next attempt. */
function refuse(error: unknown): never {
  const { message } = error as Error
  const isOurs = /not installed|ENOENT|ENOSPC|No space left|aborted/.test(message)
  throw isOurs ? error : new ImageRefusedError(message.split('\n')[0]!)
}

type Save = (bytes: AsyncIterable<Buffer>) => Promise<string>

async function unpack(file: string, save: Save, isolated: RunOptions): Promise<string> {
  const head = await readAt(file, 0, 8)
  if (startsWith(head, XZ)) return unpackXz(file, save, isolated)
  const unpacking = startsWith(head, GZIP) ? createGunzip() : startsWith(head, ZSTD) ? createZstdDecompress() : null
  if (!unpacking) return file
  const source = createReadStream(file)
  source.on('error', (error) => unpacking.destroy(error))
  try {
    return await save(source.pipe(unpacking))
  } catch (error) {
    const { code = '' } = error as { code?: string }
    throw code.startsWith('Z_') || code.startsWith('ZSTD') ? new ImageRefusedError('The file is compressed, and damaged') : error
  } finally {
    source.destroy()
  }
}

/** Node.js cannot read it. */
async function unpackXz(file: string, save: Save, isolated: RunOptions): Promise<string> {
  if (!isInstalled('xz'))
    throw new ImageRefusedError('The file is compressed with xz: compress it with zstd or gzip instead, or not at all')
  const args = ['--decompress', '--stdout', '--format=xz', '--threads=1', `--memlimit-decompress=${XZ_MEMORY}`, `./${basename(file)}`]
  return save(stream('xz', args, isolated)).catch((error: unknown) => {
    throw (error as Error).message.startsWith('xz failed') ? new ImageRefusedError('The file is compressed, and damaged') : error
  })
}

/** The descriptor of a volume begins at its sector 16. */
const ISO_MARK_AT = 16 * 2048 + 1

/** How disk images begin that may name other files: qcow and qcow2, QED, VMDK. The first sectors of an ISO image are free for anything. */
const DISK_MARKS = ['514649fb', '51454400', '4b444d56', '434f5744'].map((hex) => Buffer.from(hex, 'hex'))

async function requireIso(file: string): Promise<string> {
  const head = await readAt(file, 0, 4)
  if (DISK_MARKS.some((mark) => startsWith(head, mark))) throw new ImageRefusedError('The file is a disk image, not an ISO 9660 image')
  if ((await readAt(file, ISO_MARK_AT, 5)).toString('latin1') !== 'CD001') throw new ImageRefusedError('The file is not an ISO 9660 image')
  const output = `${file}.iso`
  await rename(file, output)
  return output
}

const startsWith = (head: Buffer, mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark)

async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
