// `up`: API, worker and PostgreSQL. Root keeps what only root can do: PostgreSQL's supervision, the host's set-up, template builds; API and
// worker are a process of their own then, without root.
import type { Config } from '../../config.ts'
import { VERSION } from '../../kernel/version.ts'
import { print, shortPath } from '../output.ts'
import { launchUnprivileged } from './privileged.ts'
import { runUntilStopped } from './service.ts'

export async function up(config: Config): Promise<number> {
  const code = await runUntilStopped(config, async (serving) => {
    print(`berth ${VERSION} · data in ${shortPath(config.dataDir)} · Ctrl-C stops it, data is kept`)
    const launched = process.getuid?.() === 0 ? await launchUnprivileged(serving) : null
    const { startAll } = await import('./start-all.ts') // while the other process loads API and worker
    await startAll(serving, launched)
  })
  if (code === 0) print('Berth has stopped; VMs keep running')
  return code
}
