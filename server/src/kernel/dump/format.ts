// The format of a dump: gzip, and at its end, where a key authenticates it, the HMAC of all bytes before.
import type { Hmac } from 'node:crypto'
import type { Partition } from './tables.ts'

/** Incremented when older dumps can no longer be read. */
export const FORMAT = 1
/** COPY escapes every backslash, so no row equals this. */
export const END_OF_ROWS = '\\.'

export interface Head {
  archive: string
  format: number
  version: string
  createdAt: string
  /** The applied migrations, in order. */
  migrations: { name: string; checksum: string }[]
  /** Fingerprint of the key that encrypts the secrets; null when there was none. */
  key: string | null
  partitions: Partition[]
}

export interface Summary {
  tables: number
  rows: number
  sha256: string
}

export type Line = Head | { table: string; columns: string[] } | { sequence: string; value: string } | { end: Summary }

/** Of the compressed bytes. A new one for every pass over the file. */
export type NewMac = () => Hmac

/** The beginning of an empty gzip member whose comment is the HMAC, so that the file stays one that gunzip reads. */
export const TRAILER_MARK = Buffer.concat([Buffer.from('1f8b08100000000000ff', 'hex'), Buffer.from('berth hmac-sha256 ')])

/** The end of the comment, no data, and the checksum and length of that. */
export const trailerOf = (mac: Hmac): Buffer =>
  Buffer.concat([TRAILER_MARK, Buffer.from(mac.digest('hex')), Buffer.from('000300', 'hex'), Buffer.alloc(8)])

export const TRAILER_BYTES = TRAILER_MARK.length + 64 + 3 + 8
