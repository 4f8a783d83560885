// The power controller of a host, by which it is switched off when it is lost. Its password is sealed for this host.
import { certificatesIn } from '../../hypervisor/pinned-tls.ts'
import { isSameUuid, type PowerAccess, type PowerController, type PowerSystem } from '../../hypervisor/redfish.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import * as sql from './sql.ts'

const contextOf = (hostId: string): string => `power of host ${hostId}`

const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|localhost)$/

/** Null: it has none. */
export const changePower = (tx: Tx, vault: Vault, host: sql.HostRow, power: PowerController | null): Promise<number> =>
  sql.writePower(tx, host.id, {
    power_url: power?.url ?? null,
    power_user: power?.user ?? null,
    sealed_power_password: power && vault.seal(power.password, contextOf(host.id)),
    power_ca: power?.ca ?? null,
    power_system_uuid: power?.systemUuid ?? null,
  })

export function requirePower({ url, user, password, ca }: PowerAccess): void {
  const parsed = URL.parse(url)
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.username || parsed.search || parsed.hash)
    throw invalid('redfish must be an address such as https://10.0.9.5/redfish/v1/Systems/1, without a user', 'redfish')
  if (parsed.protocol === 'http:' && !LOOPBACK.test(parsed.hostname))
    throw invalid('redfish must begin with https: over http everybody on the way could read the password', 'redfish')
  if (!/^[^\p{Cc}:]{1,100}$/u.test(user)) throw invalid('user must be 1-100 characters without a colon', 'user')
  if (!/^[^\p{Cc}]{1,200}$/u.test(password)) throw invalid('password must be 1-200 characters', 'password')
  if (ca !== null && !isPem(ca)) throw invalid('the certificate must be in PEM', 'ca')
}

function isPem(text: string): boolean {
  try {
    return certificatesIn(text).length > 0
  } catch {
    return false
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * A wrong one would switch off another machine, whose VMs stop, while those of the lost host go on and are started twice. `own`: the UUID that the
 * host has, or why it cannot be asked. `meant`: what the operator says that the card's should be. Returns the card's.
 */
export async function requireSystem(
  db: Queries,
  host: sql.HostRow,
  { uuid }: PowerSystem,
  own: { uuid: string | null; problem: string | null },
  meant: string | undefined,
): Promise<string> {
  if (meant !== undefined && !UUID.test(meant)) throw invalid('system-uuid must be a UUID', 'system-uuid')
  if (uuid === null || !UUID.test(uuid))
    throw apiError('incompatible', 'The card does not say which UUID its system has, so it cannot be told from another machine')
  const wanted = meant ?? own.uuid
  const way = 'If it is the right one all the same, say so: --system-uuid'
  if (wanted === null)
    throw apiError(
      'incompatible',
      `The system of the card is ${uuid}, but ${host.name} does not say which it is (${own.problem ?? 'it has none'}). ${way} ${uuid}`,
    )
  if (!isSameUuid(wanted, uuid))
    throw apiError(
      'incompatible',
      meant === undefined
        ? `The system of the card is ${uuid}, but ${host.name} is ${wanted}: it would switch off another machine. ${way} ${uuid}`
        : `The system of the card is ${uuid}, not ${meant}`,
    )
  const other = (await sql.listHosts(db)).find((each) => each.id !== host.id && each.power_system_uuid === uuid)
  if (other) throw apiError('in_use', `The system ${uuid} is that of host ${other.name}`)
  return uuid
}

/** Undefined for a host without one. */
export const openPower = (vault: Vault, host: sql.HostRow): PowerController | undefined =>
  host.power_url === null
    ? undefined
    : {
        url: host.power_url,
        user: host.power_user!,
        password: vault.open(host.sealed_power_password!, contextOf(host.id)),
        ca: host.power_ca,
        systemUuid: host.power_system_uuid,
      }
