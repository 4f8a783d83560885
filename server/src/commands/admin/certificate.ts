// `berthd certificate revoke`, on the machine with the authorities.
import type { Command } from 'commander'
import { type HostRow, listHosts, listHostsIn } from '../../features/hosts/service.ts'
import { addressIn, canonicalAddress } from '../../hypervisor/host-address.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { type Admin, adminCommand } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'

const CONTROL_PLANE = 'control-plane'

export function certificateCommands(program: Command): void {
  adminCommand(
    program
      .command('certificate')
      .description('certificates between the control plane, hosts and network controllers')
      .command('revoke')
      .description('revoke the certificates of a machine, or replace those of the control plane')
      .argument('<address>', `as it was given to \`host certificate\` or \`network-controller certificate\`; or ${CONTROL_PLANE}`),
    'certificate revoke 10.0.0.5',
    revoke,
    (_: object, address) =>
      address === CONTROL_PLANE
        ? 'The certificates of the control plane are replaced: other machines with a copy of pki/ need a new one.'
        : `The control plane will not connect to ${address} until it has a new certificate.`,
  )
}

async function revoke({ config: { dataDir }, db }: Admin, _: object, address?: string): Promise<Result> {
  const { pkiFolder, replaceClientCertificates, revokeCertificates } = await import('../../host-setup/certificate-authority.ts')
  const revoked = await (address === CONTROL_PLANE ? replaceClientCertificates(dataDir) : revokeCertificates(dataDir, address!))
  if (revoked === null) throw new UsageError(`${pkiFolder(dataDir)} has no ca.key: run this on the machine that issues certificates`)
  if (revoked === 0) throw new UsageError(`${address} has no certificate that is recorded here and not yet revoked`)
  const host = (await listHosts(db)).find(({ uri }) => canonicalAddress(addressIn(uri)) === canonicalAddress(address!))
  return { data: { address, revoked }, text: `${revoked} certificates of ${address} are revoked.${await acceptedBy(db, host)}` }
}

const isTls = ({ uri }: Pick<HostRow, 'uri'>): boolean => uri.startsWith('qemu+tls:')

/** Of a host that has left; null where it had none. The hosts of a region accept one another. */
export async function revokeCertificatesOf({ config, db }: Admin, host: HostRow): Promise<string | null> {
  if (!isTls(host)) return null
  const address = addressIn(host.uri)
  const { revokeCertificates } = await import('../../host-setup/certificate-authority.ts')
  const revoked = await revokeCertificates(config.dataDir, address)
  if (revoked === null)
    return `Its certificates are not revoked: on the machine that issues them, run npx berthd certificate revoke ${address}`
  if (revoked === 0) return `${address} has no certificate that is recorded here and not yet revoked.`
  return `Its certificates are revoked.${await acceptedBy(db, host)}`
}

/** Of a host that is unknown, and of the control plane, any may. */
async function acceptedBy(db: Queries, host: HostRow | undefined): Promise<string> {
  const others = (await (host ? listHostsIn(db, host.region_id) : listHosts(db))).filter((each) => each.id !== host?.id && !each.lost_at)
  const names = others.filter(isTls).map(({ name }) => name)
  if (names.length === 0) return ''
  return ` Hosts that accept them until each has a new bundle: ${names.join(', ')}. For each: npx berthd host certificate; then there: berthd host prepare --certificate bundle`
}
