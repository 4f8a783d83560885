// The content of a simulated disk as bytes, for what reads disks.
import { DriverError } from '../driver.ts'
import type { Extent } from '../extent.ts'
import type { Content } from './volumes.ts'

/** The content as text at the beginning of the disk; a changed disk has changed there. */
export const bytesOf = (content: Partial<Content>): Buffer => Buffer.concat([Buffer.from(JSON.stringify(content)), Buffer.alloc(1)])

export async function contentOf(extents: AsyncIterable<Extent>, backupId: string): Promise<Partial<Content>> {
  const parts: Buffer[] = []
  for await (const extent of extents) if ('bytes' in extent) parts.push(extent.bytes)
  const bytes = Buffer.concat(parts)
  return parseText<Partial<Content>>(bytes.subarray(0, bytes.indexOf(0)).toString(), backupId)
}

export function parseText<T>(text: string, backupId: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new DriverError('transient', `The copy of backup ${backupId} arrived damaged`, { cause })
  }
}
