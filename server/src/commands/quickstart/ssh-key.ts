// The SSH key of the current user, created when there is none.
import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findCommand } from '../../host-setup/shell.ts'

const run = promisify(execFile)

const NAMES = ['id_ed25519', 'id_ecdsa', 'id_rsa']

export interface OwnKey {
  publicKey: string
  path: string
  isNew: boolean
}

export async function ensureKey(folder = join(homedir(), '.ssh')): Promise<OwnKey> {
  for (const name of NAMES) {
    const path = join(folder, name)
    const publicKey = await readFile(`${path}.pub`, 'utf8').catch(() => null)
    if (publicKey) return { publicKey: publicKey.trim(), path, isNew: false }
  }
  return createKey(folder)
}

async function createKey(folder: string): Promise<OwnKey> {
  if (!(await findCommand('ssh-keygen'))) throw new Error('ssh-keygen is not installed. Install it: sudo apt-get install openssh-client')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, NAMES[0]!)
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'berth', '-f', path])
  return { publicKey: (await readFile(`${path}.pub`, 'utf8')).trim(), path, isNew: true }
}
