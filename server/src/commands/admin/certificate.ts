// `berthd certificate`: what the control plane has signed ends before its time.
import type { Command } from 'commander'
import { getRegion } from '../../features/catalog/service.ts'
import { type HostRow, listHosts, listHostsIn } from '../../features/hosts/service.ts'
import { addressIn, canonicalAddress } from '../../hypervisor/host-address.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { type Admin, adminCommand } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import type { Result } from '../output.ts'
import { openAuthorityStore } from './authority-store.ts'
import { onlyRegion } from './only-region.ts'

const CONTROL_PLANE = 'control-plane'

export function certificateCommands(program: Command): void {
  const certificate = program.command('certificate').description('certificates between the control plane, hosts and network controllers')
  adminCommand(
    certificate
      .command('revoke')
      .description('revoke the certificates of a machine, or replace those of the control plane')
      .argument('<address>', `as it was given to \`host certificate\` or \`network-controller certificate\`; or ${CONTROL_PLANE}`),
    'certificate revoke 10.0.0.5',
    revoke,
    (_: object, address) =>
      address === CONTROL_PLANE
        ? 'The certificates of the control plane are replaced.'
        : `The control plane will not connect to ${address} until it has a new certificate.`,
  )
  adminCommand(
    certificate
      .command('replace-authority')
      .description('make a new authority, so that nothing that the old one has signed is accepted by machines with a new bundle')
      .argument(
        '<authority>',
        Object.entries(AUTHORITIES)
          .map(([name, { signs }]) => `${name}: of ${signs}`)
          .join('; '),
      )
      .option('--region <slug>', 'of migrations: required when there are several'),
    'certificate replace-authority chassis',
    replace,
    (_: object, authority) => AUTHORITIES[authority as keyof typeof AUTHORITIES]?.loss ?? null,
  )
}

/** What they sign, in words of the operator. */
const AUTHORITIES = {
  hosts: { signs: 'libvirtd', loss: 'No host can be reached until it has a new bundle; VMs run on.' },
  networks: { signs: 'network controllers', loss: 'Networks cannot change until each network controller and each host has a new bundle.' },
  chassis: {
    signs: 'hosts at network controllers',
    loss: 'No host learns of changes of networks until each network controller and it have a new bundle.',
  },
  migrations: {
    signs: 'QEMUs of a region',
    loss: 'Hosts of the region with a new bundle and those with an old one cannot send VMs to each other.',
  },
}

async function revoke(admin: Admin, _: object, address?: string): Promise<Result> {
  const { replaceClientCertificates, revokeCertificates } = await import('../../host-setup/certificate-authority.ts')
  const store = await openAuthorityStore(admin)
  const revoked = await (address === CONTROL_PLANE ? replaceClientCertificates(store) : revokeCertificates(store, address!))
  if (revoked === 0) throw new UsageError(`${address} has no certificate that is recorded here and not yet revoked`)
  const host = (await listHosts(admin.db)).find(({ uri }) => canonicalAddress(addressIn(uri)) === canonicalAddress(address!))
  return { data: { address, revoked }, text: `${revoked} certificates of ${address} are revoked.${await acceptedBy(admin.db, host)}` }
}

async function replace(admin: Admin, { region }: { region?: string }, authority?: string): Promise<Result> {
  if (!Object.hasOwn(AUTHORITIES, authority!)) throw new UsageError(`The authorities are ${Object.keys(AUTHORITIES).join(', ')}`)
  if (region !== undefined && authority !== 'migrations') throw new UsageError('--region is for the authority of migrations')
  const [{ hasAuthority, replaceAuthority }, { migrationCa }] = await Promise.all([
    import('../../host-setup/certificate-authority.ts'),
    import('../../host-setup/signing.ts'),
  ])
  const store = await openAuthorityStore(admin)
  const names = { hosts: 'ca', networks: 'network-ca', chassis: 'chassis-ca' } as const
  const name =
    authority === 'migrations'
      ? migrationCa((await getRegion(admin.db, region ?? (await onlyRegion(admin.db)))).id)
      : names[authority as keyof typeof names]
  if (!(await hasAuthority(store, name))) throw new UsageError('This authority has signed nothing yet: there is nothing to replace')
  await replaceAuthority(store, name)
  const text =
    'The authority is replaced. Give each network controller, then each host a new bundle: npx berthd network-controller certificate, npx berthd host certificate'
  return { data: { authority, region: region ?? null }, text }
}

const isTls = ({ uri }: Pick<HostRow, 'uri'>): boolean => uri.startsWith('qemu+tls:')

/** Of a host that has left; null where it had none. The hosts of a region accept one another. */
export async function revokeCertificatesOf(admin: Admin, host: HostRow): Promise<string | null> {
  if (!isTls(host)) return null
  const address = addressIn(host.uri)
  const { revokeCertificates } = await import('../../host-setup/certificate-authority.ts')
  const revoked = await revokeCertificates(await openAuthorityStore(admin), address)
  if (revoked === 0) return `${address} has no certificate that is recorded here and not yet revoked.`
  return `Its certificates are revoked.${await acceptedBy(admin.db, host)}`
}

/** Of a host that is unknown, and of the control plane, any may. */
async function acceptedBy(db: Queries, host: HostRow | undefined): Promise<string> {
  const others = (await (host ? listHostsIn(db, host.region_id) : listHosts(db))).filter((each) => each.id !== host?.id && !each.lost_at)
  const names = others.filter(isTls).map(({ name }) => name)
  if (names.length === 0) return ''
  return ` Hosts that accept them until each has a new bundle: ${names.join(', ')}. For each: npx berthd host certificate; then there: berthd host prepare --certificate bundle`
}
