// What `host prepare` keeps on a host, over libvirt: files of its folder as volumes of a pool.
import { addAbortSignal } from 'node:stream'
import type { Host, Named, Volume } from '@berth/libvirt'
import { SETUP_FOLDER, SETUP_POOL } from '../core/resource-names.ts'
import { element } from '../core/xml.ts'

type Libvirt = Pick<Host, 'pools' | 'volumes'>

export async function findSetupFile(libvirt: Libvirt, name: string): Promise<Volume | undefined> {
  const pool = await openPool(libvirt)
  return (await libvirt.pools.listAllVolumes({ pool })).find((volume) => volume.name === name)
}

/** Rejects where it is larger: a host may send what it likes, and as much. */
export async function readSetupFile({ volumes }: Libvirt, volume: Volume, mostBytes: number, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const stream = addAbortSignal(signal, await volumes.download({ volume, length: BigInt(mostBytes + 1) }))
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error(`${volume.name} of the host is larger than ${mostBytes} bytes`)
  }
  return Buffer.concat(chunks).toString()
}

/** Transient: libvirt drops it when the daemon ends. */
async function openPool({ pools }: Libvirt): Promise<Named> {
  const known = (await pools.listAll({ flags: ['active'] })).find(({ name }) => name === SETUP_POOL)
  if (known) await pools.refresh({ pool: known })
  const path = element('target', {}, element('path', {}, SETUP_FOLDER))
  return (
    known ?? pools.createXml({ xml: element('pool', { type: 'dir' }, element('name', {}, SETUP_POOL), path).xml, flags: ['withBuild'] })
  )
}
