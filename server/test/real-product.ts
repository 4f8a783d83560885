// The product on a real host: an API and a worker of `berthd`, a libvirtd in a sandbox, the smallest guest, and SSH access to it.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { run } from '../../libvirt/test/command.ts'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet, type Fleet } from './fleet.ts'
import { missingForLibvirtHost, openLibvirtHost, type LibvirtHost } from './libvirt-host.ts'
import { berthdJson, eventually, type Service, type Settings } from './processes.ts'
import { tinyImage } from './tiny-image.ts'

/** Generous, for emulated guests on a loaded machine. */
export const TIMEOUT_MS = 300_000

/** Whether this machine can run it; `npm test` installs the packages. */
export const missingForRealHost = (): string | undefined =>
  missingForLibvirtHost('qemu-system-x86_64', 'qemu-system-aarch64', 'ssh', 'ssh-keygen', 'ssh-keyscan', 'sfdisk', 'mcopy')

export type RealProduct = Awaited<ReturnType<typeof realProduct>>

/** One real host instead of the simulated one. `uriOf`: the URI it is registered with. */
export async function realProduct(uriOf?: (host: LibvirtHost) => Promise<string>, settings: Settings = {}) {
  const image = await tinyImage()
  const host = await openLibvirtHost()
  afterAll(() => host.close())
  const uri = (await uriOf?.(host)) ?? host.uri
  const fixture = await fleet(settings)
  await berthdJson(fixture.settings, 'host', 'remove', 'local', '--yes')
  await berthdJson(fixture.settings, 'template', 'import', 'tiny', '--file', image.path)
  const networks = ['--network-controller', host.networkController, '--range', '10.77.0.0/16', '--dns', host.gateway]
  await berthdJson(fixture.settings, 'host', 'add', uri, '--name', 'sandbox', ...networks)
  const processes = { api: await fixture.start('api'), worker: await fixture.start('worker') }
  const newCustomer = async (email: string) => {
    const { token, accountId } = await fixture.account(1_000_000n, email)
    return { ...customerOf(fixture, token, () => processes.api), accountId }
  }
  return {
    ...fixture,
    host,
    sandbox: host.sandbox,
    processes,
    newCustomer,
    customer: await newCustomer('ada@example.com'),
    ssh: await sshInto(host.sandbox),
  }
}

export type Customer = Awaited<ReturnType<RealProduct['newCustomer']>>

/** The API's view of VMs and actions. */
interface Seen {
  status: string
  error: string | null
  ipAddress: string
}

/** A customer that waits for its actions. */
function customerOf({ db }: Fleet, token: string, api: () => Service) {
  const { send } = clientOf(token, api)
  const get = async <T = Seen>(path: string) => (await send('GET', path)).data as unknown as T

  const action = async (vmId: string, actionId: string) => {
    const look = () => get(`/vms/${vmId}/actions/${actionId}?wait=5`)
    const hasEnded = async () => {
      const found = await look()
      return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(found.status) && found
    }
    return eventually(hasEnded, TIMEOUT_MS).catch(async (cause: unknown) => {
      throw new Error(`It has not ended: ${JSON.stringify(await look(), null, 1)}`, { cause })
    })
  }

  /** Returns the VM when its action has completed. */
  const order = async (method: string, path: string, body?: object) => {
    const { status, error, data } = await send(method, path, body)
    if (status !== 202) throw new Error(`${method} ${path} answered ${status}: ${error}`)
    const vmId = (data.vm as { id: string } | undefined)?.id ?? path.split('/')[2]!
    const ended = await action(vmId, data.actionId)
    if (ended.status !== 'COMPLETED')
      throw new Error(`${method} ${path}: ${ended.status}, ${ended.error}\n${JSON.stringify(ended, null, 1)}`)
    return vmId
  }

  /** The minimum input of POST /vms. */
  const tiny = () =>
    db.one<{ regionId: string; osTemplateId: string }>(
      sql`select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId"`,
    )
  const plan = async (slug: string): Promise<string> => (await db.one<{ id: string }>(sql`select id from plans where slug = ${slug}`)).id
  /** For operations without an action; returns the resource. */
  const make = async (path: string, body: object, method = 'POST') => {
    const { status, error, data } = await send(method, path, body)
    if (status !== 201 && status !== 200) throw new Error(`${method} ${path} answered ${status}: ${error}`)
    return data
  }
  return { send, get, make, order, tiny, plan }
}

/** An SSH key, and commands over SSH from the host's side of the public network. */
async function sshInto(sandbox: Sandbox) {
  const folder = await mkdtemp(join(tmpdir(), 'berth-ssh-'))
  afterAll(() => rm(folder, { recursive: true }))
  const key = join(folder, 'key')
  await run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  const askpass = join(folder, 'askpass')
  const options = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    `UserKnownHostsFile=${folder}/known`,
    '-o',
    'ConnectTimeout=10',
    '-o',
    'LogLevel=ERROR',
  ]

  const byKey = (address: string, command: string): Promise<string> =>
    sandbox.inside('ssh', ...options, '-o', 'BatchMode=yes', '-i', key, `root@${address}`, command)

  const byPassword = async (address: string, password: string, command: string): Promise<string> => {
    await writeFile(askpass, `#!/bin/sh\nprintf '%s\\n' '${password}'\n`, { mode: 0o700 })
    const only = ['-o', 'PubkeyAuthentication=no', '-o', 'NumberOfPasswordPrompts=1']
    const asked = [`SSH_ASKPASS=${askpass}`, 'SSH_ASKPASS_REQUIRE=force', 'DISPLAY=none']
    return sandbox.inside('env', ...asked, 'setsid', '-w', 'ssh', ...options, ...only, `root@${address}`, command)
  }

  /** The agent responds a moment before sshd does. */
  const reached = (address: string, command: string, withinMs = 30_000): Promise<string> =>
    eventually(
      () =>
        byKey(address, command).then(
          (text) => text.trim() || ' ',
          () => undefined,
        ),
      withinMs,
    )

  /** The host key of the server. */
  const hostKey = async (address: string): Promise<string> => (await sandbox.inside('ssh-keyscan', '-t', 'ed25519', address)).trim()

  return {
    publicKey: (await readFile(`${key}.pub`, 'utf8')).trim(),
    byKey,
    byPassword,
    reached,
    hostKey,
    forget: () => rm(join(folder, 'known'), { force: true }),
  }
}
