import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../../test/harness.ts'
import { checkExpiry } from '../commands/doctor/certificates.ts'
import { openCore, openWorker } from '../compose.ts'
import { readConfig } from '../config.ts'
import { directAccess, readIdentity } from '../hypervisor/local-access.ts'
import { createLog } from '../kernel/log.ts'
import {
  daysLeft,
  issueChassis,
  openAuthority,
  renewClientCertificate,
  revokeCertificates,
  type Identity,
} from './certificate-authority.ts'
import { readBundle } from './bundle.ts'
import { issuedRange, issueBundle } from './issue-bundle.ts'
import { run } from './shell.ts'

/** Extended key usages. */
const [SERVER, CLIENT] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']

let dataDir: string
const pki = (name: string): string => join(dataDir, 'pki', name)

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-pki-'))
})
afterAll(() => rm(dataDir, { recursive: true }))

describe('the certificate authority', () => {
  test('is created once under concurrency, with keys of mode 0600', async () => {
    const [one, other] = await Promise.all([openAuthority(dataDir), openAuthority(dataDir)])
    expect([one.ca, one.name]).toEqual([other.ca, other.name])
    for (const key of ['ca.key', 'client.key', 'network-ca.key', 'network-client.key', 'chassis-ca.key'])
      expect((await stat(pki(key))).mode & 0o777).toBe(0o600)
    expect(new X509Certificate(await readFile(pki('client.pem'))).subject).toBe(`CN=${one.name}`)
  })

  test.each([
    ['10.0.0.5', 'IP Address:10.0.0.5'],
    ['rack1.example.com', 'DNS:rack1.example.com'],
  ])('signs for %s only', async (address, name) => {
    const authority = await openAuthority(dataDir)
    const cert = new X509Certificate((await authority.issue(address)).cert)
    const ca = new X509Certificate(authority.ca)
    expect([cert.subjectAltName, cert.ca, cert.checkIssued(ca), cert.verify(ca.publicKey)]).toEqual([name, false, true, true])
    expect(cert.keyUsage).toEqual([SERVER])
  })

  test('lets the hosts of a region know each other, and QEMU nothing but QEMU', async () => {
    const authority = await openAuthority(dataDir)
    const parsed = <T extends { cert: string }>(issued: T) => ({ ...issued, x509: new X509Certificate(issued.cert) })
    const peer = parsed(await authority.issuePeer('10.0.0.5', 'here'))
    const here = parsed(await authority.issueMigration('10.0.0.5', 'here'))
    const there = parsed(await authority.issueMigration('10.0.0.5', 'there'))
    expect([peer.x509.subject, peer.x509.keyUsage]).toEqual(['CN=berth-peer-here', [CLIENT]])
    expect([here.x509.subject, here.x509.subjectAltName]).toEqual(['CN=10.0.0.5', 'IP Address:10.0.0.5'])
    const signers = [authority.ca, here.ca, there.ca].map((ca) => new X509Certificate(ca).publicKey)
    expect(signers.map((key) => [peer, here, there].map(({ x509 }) => x509.verify(key)))).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ])
    expect((await authority.issueMigration('10.0.0.6', 'here')).ca).toBe(here.ca)
  })

  test('trusts the certificates of networks for one purpose each', async () => {
    const authority = await openAuthority(dataDir)
    const by = (ca: string, { cert }: { cert: string }): boolean => new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)
    const [host, controller, chassis] = [
      await authority.issue('10.0.0.5'),
      await authority.issueController('10.0.0.1'),
      await authority.issueChassis('10.0.0.5'),
    ]
    const signers = [authority.ca, authority.networkCa, authority.chassisCa]
    expect(signers.map((ca) => [host, controller, chassis].map((each) => by(ca, each)))).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ])
    const usage = ({ cert }: { cert: string }): string[] => new X509Certificate(cert).keyUsage
    expect([usage(controller), usage(chassis)]).toEqual([[SERVER, CLIENT], [CLIENT]])
    expect(new X509Certificate(chassis.cert).subject).toBe('CN=10.0.0.5')
    expect(new X509Certificate(controller.cert).subjectAltName).toBe('IP Address:10.0.0.1')
    expect(by(authority.networkCa, { cert: await readFile(pki('network-client.pem'), 'utf8') })).toBe(true)
  })

  /** Serial numbers. */
  const revokedBy = async (name: string): Promise<string[]> => {
    const text = await run('openssl', 'crl', '-noout', '-text', '-CAfile', pki(`${name}.pem`), '-in', pki(`${name}-crl.pem`))
    return [...text.matchAll(/Serial Number: (\w+)/g)].map(([, serial]) => serial!)
  }
  const serialOf = ({ cert }: { cert: string }): string => new X509Certificate(cert).serialNumber

  test('revokes every certificate of a machine, and no other', async () => {
    const authority = await openAuthority(dataDir)
    const [first, second, other] = [await authority.issue('fd00:0::6'), await authority.issue('fd00::6'), await authority.issue('10.0.0.6')]
    const [controller, host] = [await authority.issueController('10.0.0.7'), await authority.issue('10.0.0.7')]
    const [peer, otherPeer] = [await authority.issuePeer('10.0.0.7', 'cregion'), await authority.issuePeer('10.0.0.6', 'cregion')]
    expect([await authority.revoke('fd00::6'), await authority.revoke('fd00::6'), await authority.revoke('10.0.0.66')]).toEqual([2, 0, 0])
    const migration = await authority.issueMigration('10.0.0.7', 'cregion')
    expect(await revokeCertificates(dataDir, '10.0.0.7')).toBe(4)
    expect((await revokedBy('ca')).toSorted()).toEqual([first, second, host, peer].map(serialOf).toSorted())
    expect(await revokedBy('network-ca')).toEqual([serialOf(controller)])
    expect(await revokedBy('migration-cregion')).toEqual([serialOf(migration)])
    const { crl } = await authority.issueMigration('10.0.0.6', 'cregion')
    expect(crl).toBe(await readFile(pki('migration-cregion-crl.pem'), 'utf8'))
    expect(crl).not.toBe(migration.crl)
    expect((await openAuthority(dataDir)).crl).toBe(await readFile(pki('ca-crl.pem'), 'utf8'))
    expect(await revokedBy('ca')).not.toContain(serialOf(otherPeer))
    expect(await revokedBy('ca')).not.toContain(serialOf(other))
    expect(await revokeCertificates(join(dataDir, 'elsewhere'), '10.0.0.6')).toBeNull()
  })

  test('replaces the certificates of the control plane, under the same names', async () => {
    const before = [await readFile(pki('client.pem'), 'utf8'), await readFile(pki('network-client.pem'), 'utf8')]
    for (const index of ['ca.index', 'network-ca.index']) await rm(pki(index)) // as an older version leaves it
    const { name, replaceClients } = await openAuthority(dataDir)
    expect([await replaceClients(), (await openAuthority(dataDir)).name]).toEqual([2, name])
    expect([await revokedBy('ca'), await revokedBy('network-ca')]).toEqual(
      before.map((cert) => expect.arrayContaining([serialOf({ cert })])),
    )
    expect(await revokedBy('ca')).not.toContain(serialOf({ cert: await readFile(pki('client.pem'), 'utf8') }))
  })

  test('is used by a client that refuses revoked servers', async () => {
    const authority = await openAuthority(dataDir)
    const [revoked, valid] = [await authority.issue('127.0.0.1'), await authority.issueController('127.0.0.1')]
    const connect = async (identity: Identity, ca: string, client: string): Promise<string> => {
      const server = createServer(identity).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const socket = connectTls({ host: '127.0.0.1', port, ...(await readIdentity(directAccess(pki('')), ca, client)) })
      return once(socket, 'secureConnect')
        .then(() => 'connected', String)
        .finally(() => (socket.destroy(), server.close()))
    }
    expect(await connect(revoked, 'ca', 'client')).toBe('connected')
    await rm(pki('ca-crl.pem'))
    expect(await connect(revoked, 'ca', 'client')).toBe('connected') // a copy of the folder from before there were lists
    await authority.revoke('127.0.0.1')
    expect(await connect(revoked, 'ca', 'client')).toContain('certificate revoked')
    expect(await connect(valid, 'network-ca', 'network-client')).toContain('certificate revoked')
    expect(await connect(await authority.issue('127.0.0.1'), 'ca', 'client')).toBe('connected')
  })

  test('gives chassis a month', async () => {
    const identity = await issueChassis(dataDir, '10.0.0.5')
    expect(Math.round(daysLeft(identity!.cert))).toBe(30)
    expect(await issueChassis(join(dataDir, 'elsewhere'), '10.0.0.5')).toBeNull()
    await expect(issueChassis(dataDir, 'a/CN=b')).rejects.toThrow('no name of a chassis')
  })

  const replaceByEnding = async (): Promise<string> => {
    const { name } = await openAuthority(dataDir)
    const soon = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '20', '-subj', `/CN=${name}`]
    await run('openssl', 'req', ...soon, '-keyout', pki('client.key'), '-out', pki('client.pem'))
    return name
  }

  test('renews the client certificate before it expires, under the same name', async () => {
    const name = await replaceByEnding()
    const ending = await readFile(pki('client.pem'), 'utf8')
    expect(checkExpiry('it', ending, 'renew it')).toMatchObject({ status: 'warning', message: 'it expires in 19 days', fix: 'renew it' })
    expect((await openAuthority(dataDir)).name).toBe(name)
    const renewed = await readFile(pki('client.pem'), 'utf8')
    expect(daysLeft(renewed)).toBeGreaterThan(800)
    expect(checkExpiry('it', renewed, 'renew it')).toMatchObject({ status: 'ok' })
    expect(checkExpiry('it', null, 'renew it')).toBeNull()
  })

  test('is used by the worker to renew the client certificate', async () => {
    await replaceByEnding()
    const config = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_DRAIN_SECONDS: '1', BERTH_HYPERVISOR: 'simulated' })
    const core = await openCore(config, await testDatabase(), createLog({ level: 'silent', pretty: false }), { worker: true })
    const worker = await openWorker(core)
    onTestFinished(async () => {
      await worker.close()
      await core.close()
    })
    await expect.poll(async () => daysLeft(await readFile(pki('client.pem'), 'utf8'))).toBeGreaterThan(800)
  })

  test('is not created by a worker, because another machine may have it', async () => {
    const elsewhere = join(dataDir, 'elsewhere')
    await renewClientCertificate(elsewhere)
    await expect(stat(elsewhere)).rejects.toThrow('ENOENT')
  })
})

describe('a bundle for a host', () => {
  test('has a range that no other host has, also when it is reissued', async () => {
    const out = join(dataDir, 'bundle')
    const made = await issueBundle(dataDir, '10.0.0.5', { regionId: 'here', inUse: ['10.77.0.0/16'], controllers: null }, out)
    expect([made.range, (await stat(out)).mode & 0o777]).toEqual(['10.78.0.0/16', 0o600])
    expect(await readBundle(out)).toEqual(made)
    expect((await issueBundle(dataDir, '10.0.0.6', { regionId: 'here', inUse: ['10.77.0.0/16'], controllers: null }, out)).range).toBe(
      '10.79.0.0/16',
    )
    expect(
      (await issueBundle(dataDir, '10.0.0.5', { regionId: 'here', inUse: ['10.77.0.0/16', '10.78.0.0/16'], controllers: null }, out)).range,
    ).toBe('10.78.0.0/16')
    expect(await issuedRange(dataDir, '10.0.0.6')).toBe('10.79.0.0/16')
  })

  test('makes it a chassis of the network controllers of its region', async () => {
    const out = join(dataDir, 'bundle')
    const { chassis, peers } = await issueBundle(
      dataDir,
      'fd00::5',
      { regionId: 'here', inUse: [], controllers: ['10.0.0.1', '10.0.0.2'] },
      out,
    )
    expect(chassis).toMatchObject({ name: 'fd00--5', controllers: ['10.0.0.1', '10.0.0.2'], ca: (await openAuthority(dataDir)).networkCa })
    expect(peers).toMatchObject({
      allowedName: 'CN=berth-peer-here',
      qemu: { ca: expect.any(String), crl: expect.stringContaining('X509 CRL') },
    })
    expect((await readBundle(out)).chassis).toEqual(chassis)
  })

  test('rejects other files and invalid addresses', async () => {
    await expect(readBundle(join(dataDir, 'nothing'))).rejects.toThrow('cannot be read')
    await expect(readBundle(pki('ca.pem'))).rejects.toThrow('is not a certificate made by berthd host certificate')
    await expect(
      issueBundle(dataDir, '-subj /CN=x', { regionId: 'here', inUse: [], controllers: null }, join(dataDir, 'b')),
    ).rejects.toThrow('neither an address nor a name')
  })
})
