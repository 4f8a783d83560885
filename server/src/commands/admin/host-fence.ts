// `berthd host fence`: a lost host is kept from its storage, and switched off. A worker does it, and tries again until it has succeeded; this
// command waits for the first try.
import { getHost, pathsOf, type HostRow } from '../../features/hosts/service.ts'
import type { Deps } from '../../features/deps.ts'
import { findFence, requestFence } from '../../features/recovery/service.ts'
import { sleep } from '../../kernel/clock.ts'
import { withCore, type Admin, type OutputOptions } from '../admin-command.ts'
import type { Result } from '../output.ts'

const LOOK_EVERY_MS = 1_000
/** Longer than the first try takes. */
const LOOKS = 180

export const fence = (admin: Admin, _options: OutputOptions, name: string): Promise<Result> =>
  withCore(admin, async (deps) => {
    const host = await getHost(deps.db, name)
    if (host.fenced_at === null) await requestFence(deps, host)
    for (let looks = 0; looks < LOOKS; looks++) {
      const [now, found] = [await getHost(deps.db, host.id), await findFence(deps.db, host.id)]
      if (now.fenced_at !== null) return report(deps, now, found?.means ?? [])
      if (found?.error)
        throw new Error(`Host ${host.name} is not fenced, so nothing of it is started elsewhere; a worker goes on trying: ${found.error}`)
      await sleep(LOOK_EVERY_MS)
    }
    throw new Error(`Host ${host.name} is not fenced yet: is a worker running? It goes on trying`)
  })

const HOW: Record<string, string> = { BLOCKLIST: 'its storage backends refuse it', POWER: 'it is switched off' }

async function report({ db }: Deps, host: HostRow, means: string[]): Promise<Result> {
  const paths = (await pathsOf(db, [host])).get(host.id)!
  const text = [
    `Host ${host.name} is fenced: ${means.map((each) => HOW[each]).join(', ')}.`,
    `Start its VMs on replicated storage elsewhere: npx berthd host recover ${host.name}${host.lost_at ? ' --destroyed' : ''}`,
  ]
  return { data: { id: host.id, name: host.name, fencedAt: host.fenced_at!.toISOString(), means, paths }, text: text.join('\n') }
}
