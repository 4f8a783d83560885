// What setup does as the user of the service, and with systemd.
import { execFile } from 'node:child_process'
import type { Config } from '../../config.ts'
import { run, succeeds } from '../../host-setup/shell.ts'
import { sleep, stopwatch } from '../../kernel/clock.ts'
import { asUser, ENVIRONMENT, type OsUser } from '../../kernel/os-user.ts'
import { dashboardUrl } from '../dashboard-url.ts'
import type { Settings } from './settings-file.ts'

export type Berthd = (...args: string[]) => Promise<unknown>

/** Runs a command of `berthd` with these settings, which need not be in a file yet. Returns its JSON. */
export const berthdAs =
  (user: OsUser, program: string[], settings: Settings): Berthd =>
  (...args) => {
    const [command, ...rest] = [...asUser(user), ...program, ...args, '--json']
    const env = { ...ENVIRONMENT, NODE_ENV: 'production', NODE_DISABLE_COMPILE_CACHE: '1', ...settings }
    return new Promise((resolve, reject) => {
      execFile(command, rest, { env, cwd: '/', maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
        if (!error) resolve(JSON.parse(stdout))
        else reject(new Error(messageOf(stderr) ?? `berthd ${args.join(' ')} failed: ${stderr.trim() || error.message}`))
      })
    })
  }

function messageOf(stderr: string): string | undefined {
  try {
    return (JSON.parse(stderr) as { error: string }).error
  } catch {
    return undefined
  }
}

const READY_MS = 90_000

/** Restarts what runs only if its settings changed. Returns when the API serves. */
export async function startUnits(config: Config, changed: boolean): Promise<void> {
  const running = await succeeds('systemctl', 'is-active', '--quiet', 'berth-api.service', 'berth-worker.service')
  await run('systemctl', 'enable', '--quiet', 'berth.target')
  if (changed || !running) await run('systemctl', 'restart', 'berth-worker.service', 'berth-api.service')
  await run('systemctl', 'start', 'berth.target')
  const url = `${dashboardUrl({ ...config, publicUrl: null })}/readyz`
  const elapsed = stopwatch()
  while (!(await isReady(url))) {
    if (elapsed() > READY_MS) throw new Error(`The API does not answer at ${url}. Its log: journalctl -u berth-api -u berth-migrate`)
    await sleep(200)
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    ({ ok }) => ok,
    () => false,
  )
