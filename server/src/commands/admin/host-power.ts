// `berthd host set-power`: how a host is switched off when it is lost.
import { callHost, changePower, getHost, requirePower, requireSystem, type HostRow } from '../../features/hosts/service.ts'
import type { Driver } from '../../hypervisor/driver.ts'
import { readCertificate } from '../../hypervisor/pinned-tls.ts'
import { readSystem } from '../../hypervisor/redfish.ts'
import { openVerifiedVault } from '../../kernel/database/master-key.ts'
import { withCore, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'
import { readSecret } from './read-secret.ts'

export interface PowerOptions {
  redfish?: string
  user?: string
  passwordFile?: string
  caFile?: string
  fingerprint?: string
  systemUuid?: string
  none?: boolean
}

const ANSWER_MS = 20_000
/** The facts of a host, as many as it has to be asked for. */
const FACTS_MS = 90_000

/** Nothing is changed unless the controller answers, and has the system that the host is. */
export async function setPower(admin: Admin, options: PowerOptions, name: string): Promise<Result> {
  const { config, db } = admin
  const { redfish, user, passwordFile, systemUuid: meant, none } = options
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
  const access = { url: redfish, user, password: await readSecret(passwordFile), ca: await readTrusted(options) }
  requirePower(access)
  if (options.fingerprint !== undefined) access.ca = await pinCertificate(redfish, options.fingerprint)
  const system = await readSystem(access, AbortSignal.timeout(ANSWER_MS)).catch(nothingChanged)
  const own = meant === undefined ? await readUuid(admin, host) : { uuid: null, problem: null }
  const systemUuid = await requireSystem(db, host, system, own, meant)
  await db.tx((tx) => changePower(tx, vault, host, { ...access, systemUuid }))
  return {
    data: { id: host.id, name: host.name, redfish, user, systemUuid, power: system.power },
    text: `Host ${host.name}, system ${systemUuid}, is ${system.power}, says ${redfish}.`,
  }
}

async function readTrusted({ caFile, fingerprint }: PowerOptions): Promise<string | null> {
  if (caFile !== undefined && fingerprint !== undefined)
    throw new UsageError('Give --ca-file or --fingerprint: either says which certificate the card has')
  return caFile === undefined ? null : readSecret(caFile)
}

/** The certificate that the card presents, if it is the one that the operator has read there. */
async function pinCertificate(url: string, fingerprint: string): Promise<string> {
  const wanted = fingerprint.replaceAll(':', '').toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(wanted))
    throw new UsageError('--fingerprint is the SHA-256 of the certificate of the card: 64 hexadecimal digits, with or without colons')
  const at = new URL(url)
  if (at.protocol !== 'https:') throw new UsageError('--fingerprint needs an address that begins with https')
  const found = await readCertificate(at, AbortSignal.timeout(ANSWER_MS)).catch(nothingChanged)
  if (found.fingerprint256.replaceAll(':', '').toLowerCase() !== wanted)
    throw new Error(`${url} has another certificate, so nothing was changed: its SHA-256 fingerprint is ${found.fingerprint256}`)
  return found.toString()
}

const nothingChanged = (error: Error): never => {
  throw new Error(`Nothing was changed: ${error.message}`, { cause: error })
}

const readUuid = (admin: Admin, host: HostRow): Promise<{ uuid: string | null; problem: string | null }> =>
  withCore(admin, async (deps) => {
    let uuid: string | null = null
    const ask = async (driver: Driver, signal: AbortSignal): Promise<void> => void ({ uuid } = await driver.facts(signal))
    const error = await callHost(deps, host.id, AbortSignal.timeout(FACTS_MS), ask, FACTS_MS)
    return { uuid, problem: error?.message ?? null }
  })
