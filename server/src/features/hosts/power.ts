// The power controller of a host, by which it is switched off when it is lost. Its password is sealed for this host.
import type { PowerController } from '../../hypervisor/redfish.ts'
import type { Vault } from '../../kernel/crypto.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
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
  })

export function requirePower({ url, user, password, ca }: PowerController): void {
  const parsed = URL.parse(url)
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.username || parsed.search || parsed.hash)
    throw invalid('redfish must be an address such as https://10.0.9.5/redfish/v1/Systems/1, without a user', 'redfish')
  if (parsed.protocol === 'http:' && !LOOPBACK.test(parsed.hostname))
    throw invalid('redfish must begin with https: over http everybody on the way could read the password', 'redfish')
  if (!/^[^\p{Cc}:]{1,100}$/u.test(user)) throw invalid('user must be 1-100 characters without a colon', 'user')
  if (!/^[^\p{Cc}]{1,200}$/u.test(password)) throw invalid('password must be 1-200 characters', 'password')
  if (ca !== null && !ca.includes('-----BEGIN CERTIFICATE-----')) throw invalid('the certificate must be in PEM', 'ca')
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
      }
