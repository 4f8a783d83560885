// The control plane's certificate authorities. Each is trusted for one purpose, so that a stolen certificate of a host serves for nothing but that
// host:
//   ca          libvirtd of hosts, and the control plane and the other hosts of their region as its clients
//   network-ca  network controllers, and the control plane as their client
//   chassis-ca  hosts as clients of the southbound database
//   migration-… QEMUs of the hosts of one region, which send machines to each other
// Their keys allow impersonating any host and the control plane.
import { isIP } from 'node:net'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { readAuthorityFiles, withAuthorityFiles, type AuthorityStore } from './authority-files.ts'
import { readFileOrNull } from './shell.ts'
import * as signing from './signing.ts'
import { AUTHORITIES, CLIENTS, commonName, crlFile, daysLeft, indexFile, migrationCa, REVOCABLE, type Identity } from './signing.ts'

export const RENEW_DAYS = 60
/** When the worker has failed to renew it for ten days. */
export const WARN_CHASSIS_DAYS = 10

export interface Authority {
  ca: string
  networkCa: string
  chassisCa: string
  /** PEM: what `ca` has revoked. */
  crl: string
  /** Common name of the client certificate. */
  name: string
  /** Issues the certificate of libvirtd for the host at this address or name. */
  issue(address: string): Promise<Identity>
  /** Of the host as a client of the libvirtds of its region, to migrate machines to them. They know it by the region. */
  issuePeer(address: string, regionId: string): Promise<Identity>
  /** Of the QEMUs of the host, which can read its key: no libvirtd accepts it. */
  issueMigration(address: string, regionId: string): Promise<Identity & { ca: string; crl: string }>
  /** Of a network controller: its databases serve hosts and the control plane, and are clients of the other members. */
  issueController(address: string): Promise<Identity>
  /** Of a host as a chassis of that name: the southbound database lets it change rows of no other chassis. */
  issueChassis(name: string): Promise<Identity>
  /** Revokes every certificate of a host or network controller, and answers how many there were. */
  revoke(address: string): Promise<number>
  /** Revokes those of the control plane, and issues new ones in their place. */
  replaceClients(): Promise<number>
}

/** Common name of the hosts of a region as clients of each other. */
export const peerName = (regionId: string): string => `berth-peer-${regionId}`

/** Creates what is missing, renews the client certificates before they expire, and opens the authorities. */
export async function openAuthority(store: AuthorityStore): Promise<Authority> {
  const inFolder = <T>(work: (folder: string) => Promise<T>): Promise<T> => withAuthorityFiles(store, work)
  const names = (address: string): string[] => ['-addext', `subjectAltName=${isIP(address) ? 'IP' : 'DNS'}:${address}`]
  const issue = (signer: signing.AuthorityName, wanted: Parameters<typeof signing.issue>[2]): Promise<Identity> =>
    inFolder((folder) => signing.issue(folder, signer, wanted))
  return {
    ...(await inFolder(prepare)),
    issue: (address) => issue('ca', { name: address, usage: 'server', names: names(address), owner: address }),
    issuePeer: (address, regionId) => issue('ca', { name: peerName(regionId), usage: 'client', names: [], owner: address }),
    issueMigration: (address, regionId) =>
      inFolder(async (folder) => {
        const signer = migrationCa(regionId)
        await signing.ensureAuthority(folder, signer)
        const [ca, crl] = await Promise.all([`${signer}.pem`, crlFile(signer)].map((name) => readFile(join(folder, name), 'utf8')))
        const identity = await signing.issue(folder, signer, { name: address, usage: 'both', names: names(address), owner: address })
        return { ca: ca!, crl: crl!, ...identity }
      }),
    issueController: (address) => issue('network-ca', { name: address, usage: 'both', names: names(address), owner: address }),
    issueChassis: (name) => issue('chassis-ca', { name, usage: 'client', names: [], owner: name }),
    revoke: (address) =>
      inFolder(async (folder) => {
        const signers = [...REVOCABLE, ...(await signing.migrationCas(folder))]
        return sum(await Promise.all(signers.map((name) => signing.revoke(folder, name, address))))
      }),
    replaceClients: () =>
      inFolder(async (folder) => {
        const replaced = Object.entries(CLIENTS).map(async ([name, signer]) => {
          const known = await readFile(join(folder, `${name}.pem`), 'utf8')
          const count = await signing.revoke(folder, signer, commonName(known))
          await signing.createClientCertificate(folder, name, signer, known)
          return count
        })
        return sum(await Promise.all(replaced))
      }),
  }
}

async function prepare(folder: string): Promise<Pick<Authority, 'ca' | 'networkCa' | 'chassisCa' | 'crl' | 'name'>> {
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
  for (const name of AUTHORITIES) await signing.ensureAuthority(folder, name)
  for (const [name, signer] of Object.entries(CLIENTS)) {
    const known = await readFileOrNull(join(folder, `${name}.pem`))
    if (daysLeft(known) < RENEW_DAYS) await signing.createClientCertificate(folder, name, signer, known)
    else await signing.record(folder, signer, known!, commonName(known!)) // an older version has not
  }
  return {
    ca: await read('ca.pem'),
    networkCa: await read('network-ca.pem'),
    chassisCa: await read('chassis-ca.pem'),
    crl: await read(crlFile('ca')),
    name: commonName(await read('client.pem')),
  }
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0)

/** Hosts accept only this certificate, so it must be renewed even when no host certificate is issued. */
export async function renewClientCertificate(store: AuthorityStore): Promise<void> {
  await openIssuedAuthority(store)
}

/** Null where no certificate was issued yet: many installations need none. */
const openIssuedAuthority = async (store: AuthorityStore): Promise<Authority | null> =>
  (await hasAuthority(store, 'ca')) ? openAuthority(store) : null

export const hasAuthority = async (store: AuthorityStore, name: signing.AuthorityName): Promise<boolean> =>
  (await readAuthorityFiles(store, [`${name}.key`])).size > 0

/** How many there were. */
export const revokeCertificates = async (store: AuthorityStore, address: string): Promise<number> =>
  (await openIssuedAuthority(store))?.revoke(address) ?? 0

/** Serial numbers of certificates of hosts and of the control plane that libvirtd would accept otherwise. */
export const revokedSerials = async (store: AuthorityStore): Promise<string[]> =>
  signing.revokedIn((await readAuthorityFiles(store, [indexFile('ca')])).get(indexFile('ca')) ?? '')

export const replaceClientCertificates = async (store: AuthorityStore): Promise<number> =>
  (await openIssuedAuthority(store))?.replaceClients() ?? 0

export async function issueChassis(store: AuthorityStore, name: string): Promise<Identity | null> {
  if (!/^[A-Za-z0-9.-]+$/.test(name)) throw new Error(`"${name}" is no name of a chassis`)
  return (await openIssuedAuthority(store))?.issueChassis(name) ?? null
}

/** Whatever the old one has signed is refused by everybody who gets a bundle of the new one. */
export const replaceAuthority = (store: AuthorityStore, name: signing.AuthorityName): Promise<void> =>
  withAuthorityFiles(store, (folder) => signing.replaceAuthority(folder, name))
