// A folder, a bridge on a free 10.x network, a certificate authority, and as many sandboxes as a proof needs.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tls, unix } from '../src/index.ts'
import type { Endpoint } from '../src/index.ts'
import { startSandbox } from './sandboxed-libvirtd.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import { run } from './command.ts'
import { createAuthority } from './certificates.ts'
import type { Authority, Identity } from './certificates.ts'

export class Sandboxes {
  readonly folder: string
  private readonly authority: Authority
  private readonly client: Identity
  private readonly bridge: string
  private readonly prefix: string
  private readonly sandboxes: Sandbox[] = []

  private constructor(folder: string, authority: Authority, client: Identity, network: { bridge: string; prefix: string }) {
    this.folder = folder
    this.authority = authority
    this.client = client
    this.bridge = network.bridge
    this.prefix = network.prefix
  }

  static async open(): Promise<Sandboxes> {
    const folder = await mkdtemp(join(tmpdir(), 'berth-hosts-'))
    const authority = await createAuthority(folder)
    return new Sandboxes(folder, authority, await authority.issue('client', []), await addBridge())
  }

  async add(options: { libvirtdConf?: string } = {}): Promise<Sandbox> {
    const number = this.sandboxes.length + 1
    const address = `${this.prefix}.${number + 10}`
    const identity = await this.authority.issue(address, [`IP:${address}`])
    const shared = { folder: this.folder, ca: this.authority.ca, network: { address, bridge: this.bridge } }
    const sandbox = await startSandbox({ ...shared, ...options, name: `h${number}`, uuid: randomUUID(), identity })
    this.sandboxes.push(sandbox)
    return sandbox
  }

  unix(sandbox: Sandbox): Endpoint {
    return unix(sandbox.socket)
  }

  tls(sandbox: Sandbox): Endpoint {
    return tls({ host: sandbox.address, ca: this.authority.ca, ...this.client })
  }

  async close(): Promise<void> {
    for (const sandbox of this.sandboxes) await sandbox.remove()
    await run('ip', 'link', 'del', this.bridge)
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Another proof may choose the same network concurrently: creating the bridge reserves it. */
async function addBridge(): Promise<{ bridge: string; prefix: string }> {
  const routes = await run('ip', '-4', 'route')
  for (let third = 20; third < 220; third++) {
    const [bridge, prefix] = [`bt${third}`, `10.98.${third}`]
    const isFree =
      !routes.includes(`${prefix}.`) &&
      (await run('ip', 'link', 'add', bridge, 'type', 'bridge').then(
        () => true,
        () => false,
      ))
    if (!isFree) continue
    // This machine may be a host, with addresses that others here look for.
    await writeFile(`/proc/sys/net/ipv4/conf/${bridge}/arp_ignore`, '1')
    await run('ip', 'addr', 'add', `${prefix}.1/24`, 'dev', bridge)
    await run('ip', 'link', 'set', bridge, 'up')
    return { bridge, prefix }
  }
  throw new Error('no free network between 10.98.20.0 and 10.98.219.0')
}
