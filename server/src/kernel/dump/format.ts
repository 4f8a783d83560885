// What stands in an archive.
import type { Partition } from './tables.ts'

/** Changes when what is written can no longer be read by what was written before. */
export const FORMAT = 1
/** COPY writes every backslash of the data twice, so no row is this. */
export const END_OF_ROWS = '\\.'

export interface Head {
  archive: string
  format: number
  version: string
  createdAt: string
  /** What was applied to the database, in order. */
  migrations: { name: string; checksum: string }[]
  /** Recognises the key that the secrets are sealed with; null when there was none. */
  key: string | null
  partitions: Partition[]
}

export interface Summary {
  tables: number
  rows: number
  sha256: string
}

export type Line = Head | { table: string; columns: string[] } | { sequence: string; value: string } | { end: Summary }
