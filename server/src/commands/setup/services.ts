// What setup does with systemd.
import type { Config } from '../../config.ts'
import { run, succeeds } from '../../host-setup/shell.ts'
import { sleep, stopwatch } from '../../kernel/clock.ts'
import { dashboardUrl } from '../dashboard-url.ts'

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
