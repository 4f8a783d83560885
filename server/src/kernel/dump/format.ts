// The format of a dump.
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
