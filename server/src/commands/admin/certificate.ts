// `berthd certificate revoke`, on the machine with the authorities.
import type { Command } from 'commander'
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

async function revoke({ config: { dataDir } }: Admin, _: object, address?: string): Promise<Result> {
  const { pkiFolder, replaceClientCertificates, revokeCertificates } = await import('../../host-setup/certificate-authority.ts')
  const revoked = await (address === CONTROL_PLANE ? replaceClientCertificates(dataDir) : revokeCertificates(dataDir, address!))
  if (revoked === null) throw new UsageError(`${pkiFolder(dataDir)} has no ca.key: run this on the machine that issues certificates`)
  if (revoked === 0) throw new UsageError(`${address} has no certificate that is recorded here and not yet revoked`)
  const text = `${revoked} certificates of ${address} are revoked. Hosts learn it with their next certificate: npx berthd host certificate`
  return { data: { address, revoked }, text }
}
