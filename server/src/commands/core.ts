import type { Deps } from '../features/deps.ts'
import { createLog } from '../kernel/log.ts'
import type { Admin } from './admin.ts'

/** For commands that start workflows or ask hosts, and so need more than the database. */
export async function withCore<T>({ config, db }: Admin, work: (deps: Deps) => Promise<T>): Promise<T> {
  const { openCore } = await import('../compose.ts')
  const core = await openCore(config, db.url, createLog({ level: 'silent', pretty: false }), { worker: false })
  try {
    return await work(core.deps)
  } finally {
    await core.close()
  }
}
