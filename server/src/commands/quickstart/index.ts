// Creates a customer and a VM with SSH access in one command. A second run reuses what the first created.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../../config.ts'
import { listHosts } from '../../features/hosts/service.ts'
import { packageDir } from '../../kernel/paths.ts'
import { readClock } from '../../kernel/database/test-clock.ts'
import { withDatabase } from '../database.ts'
import { print, showLine, step } from '../output.ts'
import { apiAt, requireRunning } from './api-client.ts'
import { ensureCustomer } from './account.ts'
import { ensureVm } from './vm.ts'
import { ensureKey } from './ssh-key.ts'

export interface QuickstartOptions {
  email?: string
  hostname: string
  os?: string
}

export async function quickstart(config: Config, { email, hostname, os }: QuickstartOptions): Promise<void> {
  const address = addressOf(config)
  await requireRunning(address)
  const key = await step(
    'SSH key',
    () => ensureKey(),
    ({ path, isNew }) => ({ label: `SSH key ${path}`, note: isNew ? 'created' : 'exists' }),
  )
  const { player, kind } = await withDatabase(config, async (db) => ({
    kind: kindOf(await listHosts(db)),
    player: await step(
      'account',
      async () => ensureCustomer({ config, db, now: await readClock(db, config.testClock) }, email, address),
      ({ email: used, created }) => ({ label: `account ${used}`, note: created.length > 0 ? `created: ${created.join(', ')}` : 'exists' }),
    ),
  }))
  await signIn(address, player.token)
  showLine('✓', `VM ${hostname}`, '')
  const templates = os ? [os] : kind === 'kvm' ? ['debian-12', 'tiny'] : ['tiny', 'debian-12']
  const vm = await ensureVm(apiAt(address, player.token), { hostname, publicKey: key.publicKey, templates })
  const [next, command] =
    kind === 'simulated'
      ? ['It is simulated, so there is nothing to log in to. See it with', `npx berth vm get ${vm.name}`]
      : ['Log in with', `ssh ${vm.user}@${vm.ipAddress ?? vm.ipv6Address}`]
  print(`\n ${vm.name} is ${vm.status}. ${next}:\n`)
  print(`   ${command}\n`)
}

/** The URL at which this machine reaches the API. */
function addressOf({ host, port }: Config): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host
  return `http://${reachable}:${port}`
}

type Kind = 'kvm' | 'emulation' | 'simulated'

const kindOf = (hosts: { driver: string; acceleration: string | null }[]): Kind => {
  const real = hosts.filter(({ driver }) => driver === 'libvirt')
  if (real.length === 0) return 'simulated'
  return real.some(({ acceleration }) => acceleration === 'kvm') ? 'kvm' : 'emulation'
}

/** Signs `berth` in. Where it is not installed, the token is still in its file. */
async function signIn(address: string, token: string): Promise<void> {
  const folder = packageDir('@berth/cli')
  if (!folder) return
  try {
    const args = ['login', address, '--name', 'local', '--keep-current']
    const login = promisify(execFile)(process.execPath, [join(folder, 'bin/berth.mjs'), ...args])
    login.child.stdin?.end(token)
    await login
    showLine('✓', 'signed in as “local”', 'npx berth vm list')
  } catch (error) {
    showLine('!', 'signing in the berth CLI failed', (error as Error).message.trim().split('\n').at(-1)!)
  }
}
