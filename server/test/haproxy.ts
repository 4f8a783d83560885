// HAProxy by the files of ops/ha.
import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { env, missingCommands } from '../../libvirt/test/command.ts'

export const HA_FILES = join(import.meta.dirname, '../../ops/ha')

export const missingForHaproxy = (): string | undefined => (process.getuid?.() !== 0 ? 'needs root' : missingCommands('haproxy'))

/** `settings` replace those of haproxy.env. It runs and logs in the folder. */
export async function spawnHaproxy(folder: string, settings: Record<string, string>): Promise<ChildProcess> {
  const shipped = parseEnv(await readFile(join(HA_FILES, 'haproxy.env'), 'utf8')) as Record<string, string>
  const log = openSync(join(folder, 'haproxy.log'), 'a')
  return spawn('haproxy', ['-db', '-f', join(HA_FILES, 'haproxy.cfg')], {
    cwd: folder,
    env: { ...env, ...shipped, ...settings },
    stdio: ['ignore', log, log],
  })
}
