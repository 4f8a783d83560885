// Reads the qcow2 header before any other program opens the file: an untrusted image may name local files as backing or data file, whose
// content would end up in a guest.

export interface Qcow2Header {
  version: number
  virtualBytes: bigint
  clusterBytes: number
}

const MAGIC = 0x514649fb
const UNENCRYPTED = 0
/** Incompatible features. A dirty image (not closed cleanly) is still readable. */
const [DIRTY, DATA_FILE, COMPRESSION] = [1n, 4n, 8n]
const READABLE = DIRTY | COMPRESSION

export const isQcow2 = (head: Buffer): boolean => head.length >= 4 && head.readUInt32BE(0) === MAGIC

/** Throws when the file is damaged or refers to another file. */
export function readHeader(head: Buffer): Qcow2Header {
  if (!isQcow2(head) || head.length < 72) throw new Error('The file is not a qcow2 image')
  const version = head.readUInt32BE(4)
  if (version !== 2 && version !== 3) throw new Error(`The image has the unknown qcow2 version ${version}`)
  if (head.readBigUInt64BE(8) !== 0n)
    throw new Error('The image is only the changes to another file (its backing file): flatten it with qemu-img convert')
  if (head.readUInt32BE(32) !== UNENCRYPTED) throw new Error('The image is encrypted')
  if (version === 3) requireReadable(head.length >= 104 ? head.readBigUInt64BE(72) : 0n)
  const clusterBits = head.readUInt32BE(20)
  if (clusterBits < 9 || clusterBits > 21) throw new Error('The image has clusters of an impossible size')
  return { version, virtualBytes: head.readBigUInt64BE(24), clusterBytes: 2 ** clusterBits }
}

function requireReadable(features: bigint): void {
  if (features & DATA_FILE) throw new Error('The image keeps its data in another file (an external data file)')
  if (features & ~READABLE) throw new Error('The image is marked as damaged, or uses unknown features')
}
