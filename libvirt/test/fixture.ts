// What a proof against a real libvirtd needs: a box, a pool, a guest.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../src/client.ts'
import type { Domain, Named } from '../src/index.ts'
import type { Box } from './sandboxed-libvirtd.ts'
import { Boxes } from './sandbox-fleet.ts'
import { eventually } from './eventually.ts'
import { bootSector, greeting, guestXml } from './guest.ts'
import type { GuestOptions } from './guest.ts'

export async function startPool(client: Client, name: string): Promise<Named> {
  const xml = `<pool type='dir'><name>${name}</name><target><path>/var/lib/libvirt/images/${name}</path></target></pool>`
  const pool = await client.pools.define({ xml })
  await client.pools.create({ pool, flags: ['withBuild'] })
  return pool
}

export async function startGuest(client: Client, boxes: Boxes, options: Omit<GuestOptions, 'disk'>): Promise<Domain> {
  const disk = join(boxes.folder, `${options.name}.img`)
  await writeFile(disk, Buffer.concat([bootSector(), Buffer.alloc(1 << 20)]))
  const domain = await client.domains.define({ xml: guestXml({ ...options, disk }) })
  return client.domains.create({ domain })
}

/** A terminal on the guest's serial port. */
export async function openTerminal(client: Client, domain: Domain) {
  const stream = await client.domains.openConsole({ domain, flags: ['force'] })
  let heard = ''
  stream.on('error', () => {}).on('data', (data: Buffer) => (heard += data.toString()))
  return {
    stream,
    write: (text: string) => stream.write(text),
    /** Waits until the guest has said it. */
    hears: (text: string) => eventually(`the guest to say '${text}' (it said '${heard}')`, () => heard.includes(text) || undefined),
  }
}

export async function bootedTerminal(client: Client, domain: Domain) {
  const terminal = await openTerminal(client, domain)
  await terminal.hears(greeting)
  return terminal
}

export async function openBoxes(
  count: number,
  options: { libvirtdConf?: string } = {},
): Promise<{ boxes: Boxes; box: Box; others: Box[] }> {
  const boxes = await Boxes.open()
  const all: Box[] = []
  for (let i = 0; i < count; i++) all.push(await boxes.add(options))
  const [box, ...others] = all
  if (!box) throw new Error('BUG: no box')
  return { boxes, box, others }
}
