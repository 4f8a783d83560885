import { join } from 'node:path'
import { daysLeft, pkiFolder, RENEW_DAYS } from '../../host-setup/certificate-authority.ts'
import { readFileOrNull } from '../../host-setup/shell.ts'
import { tlsFiles } from '../../host-setup/tls.ts'
import { failure, ok, warning, type Check, type Finding } from './check.ts'

/** Ours, by which hosts know us, and this machine's, where it is a host for a control plane elsewhere. */
export const certificates: Check = async ({ dataDir }) => {
  const folder = pkiFolder(dataDir)
  const findings = [
    judge(
      'the certificate authority',
      await readFileOrNull(join(folder, 'ca.pem')),
      'every host needs a new certificate: move pki in the data folder away, then npx berthd host certificate',
    ),
    judge(
      'our certificate to hosts',
      await readFileOrNull(join(folder, 'client.pem')),
      'a worker renews it every day where pki/ca.key is: look at its log, and copy pki in the data folder from there to other machines',
    ),
    judge(
      "this machine's certificate as a host",
      await readFileOrNull(tlsFiles.cert),
      'where Berth runs: npx berthd host certificate; then here: berthd host prepare --certificate bundle',
    ),
  ].filter((finding) => finding !== null)
  if (findings.length === 0) return ok('certificates: none yet, npx berthd host certificate makes them')
  return findings.find(({ status }) => status === 'failure') ?? findings.find(({ status }) => status === 'warning') ?? findings[0]!
}

export function judge(what: string, pem: string | null, fix: string): Finding | null {
  if (pem === null) return null
  const days = Math.floor(daysLeft(pem))
  if (days < 0) return failure(`${what} has ended`, fix)
  return days < RENEW_DAYS ? warning(`${what} ends in ${days} days`, fix) : ok(`certificates last at least ${days} days`)
}
