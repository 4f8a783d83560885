// What setup does with systemd.
import type { Config } from '../../config.ts'
import { run, succeeds } from '../../host-setup/shell.ts'
import { sleep, stopwatch } from '../../kernel/clock.ts'
import { dashboardUrl } from '../dashboard-url.ts'

const READY_MS = 90_000

/** Restarts what runs only if its settings changed. Returns when the API serves; a host is added later. */
export async function startUnits(config: Config, changed: boolean): Promise<void> {
  const running = await succeeds('systemctl', 'is-active', '--quiet', 'berth-api.service', 'berth-worker.service')
  await run('systemctl', 'enable', '--quiet', 'berth.target')
  if (changed || !running) await run('systemctl', 'restart', 'berth-worker.service', 'berth-api.service')
  await run('systemctl', 'start', 'berth.target')
  const url = `${dashboardUrl({ ...config, publicUrl: null })}/readyz`
  const elapsed = stopwatch()
  for (;;) {
    const problem = await findProblem(url)
    if (problem === null) return
    if (elapsed() > READY_MS) throw new Error(`The API at ${url}: ${problem}. Its log: journalctl -u berth-api -u berth-migrate`)
    await sleep(200)
  }
}

async function findProblem(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    const { checks } = (await answer.json()) as { checks: Record<string, string> }
    const failed = Object.entries(checks).find(([name, result]) => name !== 'host' && result !== 'ok')
    return failed ? failed.join(' ') : null
  } catch (error) {
    return `no answer (${(error as Error).message})`
  }
}
