// `berthd host fence`: a lost host is kept from its storage, and switched off. A worker does it, and tries again until it has succeeded; this
// command waits for the first try. `berthd host set-power` says how a host is switched off.
import { changePower, getHost, pathsOf, requirePower, type HostRow } from '../../features/hosts/service.ts'
import type { Deps } from '../../features/deps.ts'
import { findFence, requestFence } from '../../features/recovery/service.ts'
import { readPower } from '../../hypervisor/redfish.ts'
import { sleep } from '../../kernel/clock.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import { withCore, type Admin, type OutputOptions } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'
import { readSecret } from './read-secret.ts'

export interface PowerOptions {
  redfish?: string
  user?: string
  passwordFile?: string
  caFile?: string
  none?: boolean
}

const ANSWER_MS = 20_000

/** Nothing is changed unless the controller answers. */
export async function setPower(
  { config, db }: Admin,
  { redfish, user, passwordFile, caFile, none }: PowerOptions,
  name: string,
): Promise<Result> {
  const host = await getHost(db, name)
  const vault = await openVerifiedVault(db, config.masterKeyFile)
  if (none) {
    await db.tx((tx) => changePower(tx, vault, host, null))
    return { data: { id: host.id, name: host.name, redfish: null }, text: `Host ${host.name} has no power controller.` }
  }
  if (redfish === undefined || user === undefined || passwordFile === undefined)
    throw new UsageError(
      'A power controller needs --redfish, --user and --password-file; --none removes it: npx berthd host set-power --help',
    )
  const power = { url: redfish, user, password: await readSecret(passwordFile), ca: caFile === undefined ? null : await readSecret(caFile) }
  requirePower(power)
  const state = await readPower(power, AbortSignal.timeout(ANSWER_MS)).catch((error: unknown) => {
    throw new Error(`${redfish} does not answer, so nothing was changed: ${(error as Error).message}`, { cause: error })
  })
  await db.tx((tx) => changePower(tx, vault, host, power))
  return { data: { id: host.id, name: host.name, redfish, user, power: state }, text: `Host ${host.name} is ${state}, says ${redfish}.` }
}

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
    `Start its VMs on replicated storage elsewhere: npx berthd host recover ${host.name}`,
  ]
  return { data: { id: host.id, name: host.name, fencedAt: host.fenced_at!.toISOString(), means, paths }, text: text.join('\n') }
}
