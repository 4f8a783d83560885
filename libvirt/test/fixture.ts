// What a proof against a real libvirtd needs: a sandbox, a pool, a guest.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../src/client.ts'
import type { Domain, Named } from '../src/index.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import { Sandboxes } from './sandbox-fleet.ts'
import { eventually } from './eventually.ts'
import { bootSector, greeting, guestXml } from './guest.ts'
import type { GuestOptions } from './guest.ts'

export async function startPool(client: Client, name: string): Promise<Named> {
  const xml = `<pool type='dir'><name>${name}</name><target><path>/var/lib/libvirt/images/${name}</path></target></pool>`
  const pool = await client.pools.define({ xml })
  await client.pools.create({ pool, flags: ['withBuild'] })
  return pool
}

export async function startGuest(client: Client, sandboxes: Sandboxes, options: Omit<GuestOptions, 'disk'>): Promise<Domain> {
  const disk = join(sandboxes.folder, `${options.name}.img`)
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

export async function openSandboxes(
  count: number,
  options: { libvirtdConf?: string } = {},
): Promise<{ sandboxes: Sandboxes; sandbox: Sandbox; others: Sandbox[] }> {
  const sandboxes = await Sandboxes.open()
  const all: Sandbox[] = []
  for (let i = 0; i < count; i++) all.push(await sandboxes.add(options))
  const [sandbox, ...others] = all
  if (!sandbox) throw new Error('BUG: no sandbox')
  return { sandboxes, sandbox, others }
}
