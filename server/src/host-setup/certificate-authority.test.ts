import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../../test/harness.ts'
import { checkExpiry } from '../commands/doctor/certificates.ts'
import { openCore, openWorker } from '../compose.ts'
import { readConfig } from '../config.ts'
import { createLog } from '../kernel/log.ts'
import { daysLeft, openAuthority, renewClientCertificate } from './certificate-authority.ts'
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
    const peer = parsed(await authority.issuePeer('here'))
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
    expect(peers).toMatchObject({ allowedName: 'CN=berth-peer-here', qemu: { ca: expect.any(String) } })
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
