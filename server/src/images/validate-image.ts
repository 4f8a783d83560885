// Validates an untrusted image before any guest uses it.
import { open, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isQcow2, readHeader } from './qcow2-header.ts'
import { run, type Limits, type RunOptions } from './external-tools.ts'

export interface Inspected {
  format: 'qcow2' | 'raw'
  virtualBytes: number
}

const MIB = 1024 ** 2
export const MAX_VIRTUAL_BYTES = 512 * 1024 ** 3
const SECTOR = 512
/** A hostile file must not exhaust memory or CPU time. */
const LIMITS: Limits = { memoryBytes: 1024 ** 3, cpuSeconds: 60 }

/** Rejects with the reason when the file is not usable. */
export async function inspectImage(
  path: string,
  signal: AbortSignal,
  options: Pick<RunOptions, 'isUnprivileged'> = {},
): Promise<Inspected> {
  const head = await readHead(path)
  if (!isQcow2(head)) return inspectRaw(path, head)
  const { virtualBytes, clusterBytes } = readHeader(head)
  requireValidSize(virtualBytes)
  await requireIntact(path, clusterBytes, { signal, limits: LIMITS, ...(options.isUnprivileged && { isUnprivileged: true }) })
  return { format: 'qcow2', virtualBytes: Number(virtualBytes) }
}

/** The virtual size of an already validated file. */
export const virtualBytesOf = async (path: string): Promise<number> => Number(readHeader(await readHead(path)).virtualBytes)

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const head = Buffer.alloc(SECTOR)
    const { bytesRead } = await file.read(head, 0, SECTOR, 0)
    return head.subarray(0, Math.max(bytesRead, 0))
  } finally {
    await file.close()
  }
}

/** A bootable disk has a partition table and so this signature; archives and other formats do not. */
async function inspectRaw(path: string, head: Buffer): Promise<Inspected> {
  const hasMark = head.length === SECTOR && head.readUInt16BE(SECTOR - 2) === 0x55aa
  if (!hasMark)
    throw new Error('The file is neither a qcow2 image nor a raw disk with a partition table; unpack it first if it is compressed')
  const { size } = await stat(path)
  requireValidSize(BigInt(size))
  return { format: 'raw', virtualBytes: size }
}

function requireValidSize(bytes: bigint): void {
  if (bytes < MIB) throw new Error(`The disk in the image has only ${bytes} bytes`)
  if (bytes > MAX_VIRTUAL_BYTES)
    throw new Error(`The disk in the image has ${bytes / BigInt(MIB)} MiB, and a template may have at most ${MAX_VIRTUAL_BYTES / MIB}`)
}

interface QemuImageInfo {
  'backing-filename'?: string
  'full-backing-filename'?: string
  'format-specific'?: { data?: { 'data-file'?: string; corrupt?: boolean } }
}

interface QemuCheck {
  corruptions?: number
  'check-errors'?: number
  'image-end-offset'?: number
}

/** Runs qemu-img with an explicit format, so that it neither probes nor follows file names. */
async function requireIntact(path: string, clusterBytes: number, options: RunOptions): Promise<void> {
  const about = ['--output=json', '--force-share', '-f', 'qcow2', `./${basename(path)}`]
  const within = { ...options, cwd: dirname(path) } // a user without access to the folders above can open it
  const info = JSON.parse(await run('qemu-img', ['info', ...about], within)) as QemuImageInfo
  const { data } = info['format-specific'] ?? {}
  if (info['backing-filename'] ?? info['full-backing-filename'] ?? data?.['data-file']) throw new Error('The image refers to another file')
  const report = await run('qemu-img', ['check', ...about], { ...within, okCodes: [0, 2, 3] })
  const check = JSON.parse(report) as QemuCheck
  if (check.corruptions || check['check-errors'] || data?.corrupt) throw new Error('The image is damaged: qemu-img check reports errors')
  const { size } = await stat(path)
  const end = check['image-end-offset'] ?? 0 // end of the last cluster, which compressed images do not fill
  if (size <= end - clusterBytes) throw new Error(`The image is cut off: it has ${size} of ${end} bytes`)
}
