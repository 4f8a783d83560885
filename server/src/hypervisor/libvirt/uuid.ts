// A UUID that follows from a name (version 5), so that defining the same thing twice is the same thing.
import { createHash } from 'node:crypto'

const NAMESPACE = Buffer.from('6f7d1d6f5a3c4e0b9a51b5f1c2d7e830', 'hex')

export function uuidOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
