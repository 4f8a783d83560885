import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openAuthorities, type TestAuthorities } from '../../test/authorities.ts'
import { testDatabase } from '../../test/harness.ts'
import { checkExpiry } from '../commands/doctor/certificates.ts'
import { openCore, openWorker } from '../compose.ts'
import { readConfig } from '../config.ts'
import { readIdentity } from '../hypervisor/local-access.ts'
import { vaultFrom } from '../kernel/crypto.ts'
import { sql } from '../kernel/database/db.ts'
import { createLog } from '../kernel/log.ts'
import { readAuthorityFiles, withAuthorityFiles } from './authority-files.ts'
import { issueChassis, openAuthority, renewClientCertificate, replaceAuthority, revokeCertificates } from './certificate-authority.ts'
import { readBundle } from './bundle.ts'
import { issuedRange, issueBundle } from './issue-bundle.ts'
import { run } from './shell.ts'
import { daysLeft, type Identity } from './signing.ts'

/** Extended key usages. */
const [SERVER, CLIENT] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']

let dataDir: string
let store: TestAuthorities
let none: TestAuthorities

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-authority-'))
  store = await openAuthorities(await testDatabase(), dataDir)
  none = await openAuthorities(await testDatabase(), dataDir)
})
afterAll(async () => {
  await Promise.all([store.close(), none.close()])
  await rm(dataDir, { recursive: true })
})

const read = async (name: string): Promise<string> => (await readAuthorityFiles(store, [name])).get(name)!
const remove = (...names: string[]) => store.db.run(sql`delete from pki_files where name = any(${names})`)

describe('the certificate authority', () => {
  test('is created once under concurrency, and sealed by the master key', async () => {
    const [one, other] = await Promise.all([openAuthority(store), openAuthority({ ...store })])
    expect([one.ca, one.name]).toEqual([other.ca, other.name])
    expect(new X509Certificate(await read('client.pem')).subject).toBe(`CN=${one.name}`)
    const rows = await store.db.many<{ name: string; sealed: Buffer }>(sql`select name, sealed from pki_files order by name`)
    expect(rows.map(({ name }) => name)).toEqual(
      ['ca', 'network-ca']
        .flatMap((ca) => [`${ca}-crl.pem`, `${ca}.index`, `${ca}.key`, `${ca}.pem`])
        .concat(['chassis-ca', 'client', 'network-client'].flatMap((name) => [`${name}.key`, `${name}.pem`]))
        .toSorted(),
    )
    expect(rows.filter(({ sealed }) => sealed.includes('-----BEGIN'))).toEqual([])
  })

  test('leaves no key on a disk, nor what it did when it fails', async () => {
    const folders: string[] = []
    const failing = withAuthorityFiles(store, async (folder) => {
      folders.push(folder)
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
      await writeFile(join(folder, 'ca.pem'), 'nothing')
      throw new Error('killed')
    })
    await expect(failing).rejects.toThrow('killed')
    await expect(stat(folders[0]!)).rejects.toThrow('ENOENT')
    expect(new X509Certificate(await read('ca.pem')).ca).toBe(true)
    const left = `${folders[0]!.slice(0, -6)}killed` // by a process that was killed
    await run('mkdir', left)
    await openAuthority(store)
    await expect(stat(left)).rejects.toThrow('ENOENT')
    expect((await readdir(dataDir)).toSorted()).toEqual(['master.key'])
  })

  test('is read by its master key only, each file under its name', async () => {
    const sealed = 'sealed by another master key'
    await expect(readAuthorityFiles({ db: store.db, vault: vaultFrom(randomBytes(32)) }, ['ca.key'])).rejects.toThrow(sealed)
    await store.db.run(sql`update pki_files set name = 'other.key' where name = 'chassis-ca.key'`)
    await expect(readAuthorityFiles(store, ['other.key'])).rejects.toThrow(sealed)
    await store.db.run(sql`update pki_files set name = 'chassis-ca.key' where name = 'other.key'`)
  })

  test.each([
    ['10.0.0.5', 'IP Address:10.0.0.5'],
    ['rack1.example.com', 'DNS:rack1.example.com'],
  ])('signs for %s only', async (address, name) => {
    const authority = await openAuthority(store)
    const cert = new X509Certificate((await authority.issue(address)).cert)
    const ca = new X509Certificate(authority.ca)
    expect([cert.subjectAltName, cert.ca, cert.checkIssued(ca), cert.verify(ca.publicKey)]).toEqual([name, false, true, true])
    expect(cert.keyUsage).toEqual([SERVER])
  })

  test('lets the hosts of a region know each other, and QEMU nothing but QEMU', async () => {
    const authority = await openAuthority(store)
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
    const authority = await openAuthority(store)
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
    expect(by(authority.networkCa, { cert: await read('network-client.pem') })).toBe(true)
  })

  /** Serial numbers. */
  const revokedBy = async (name: string): Promise<string[]> => {
    const [ca, crl] = [join(dataDir, 'ca.pem'), join(dataDir, 'crl.pem')]
    await Promise.all([writeFile(ca, await read(`${name}.pem`)), writeFile(crl, await read(`${name}-crl.pem`))])
    const text = await run('openssl', 'crl', '-noout', '-text', '-CAfile', ca, '-in', crl)
    return [...text.matchAll(/Serial Number: (\w+)/g)].map(([, serial]) => serial!)
  }
  const serialOf = ({ cert }: { cert: string }): string => new X509Certificate(cert).serialNumber

  test('revokes every certificate of a machine, and no other', async () => {
    const authority = await openAuthority(store)
    const [first, second, other] = [await authority.issue('fd00:0::6'), await authority.issue('fd00::6'), await authority.issue('10.0.0.6')]
    const [controller, host] = [await authority.issueController('10.0.0.7'), await authority.issue('10.0.0.7')]
    const [peer, otherPeer] = [await authority.issuePeer('10.0.0.7', 'cregion'), await authority.issuePeer('10.0.0.6', 'cregion')]
    expect([await authority.revoke('fd00::6'), await authority.revoke('fd00::6'), await authority.revoke('10.0.0.66')]).toEqual([2, 0, 0])
    const migration = await authority.issueMigration('10.0.0.7', 'cregion')
    expect(await revokeCertificates(store, '10.0.0.7')).toBe(4)
    expect((await revokedBy('ca')).toSorted()).toEqual([first, second, host, peer].map(serialOf).toSorted())
    expect(await revokedBy('network-ca')).toEqual([serialOf(controller)])
    expect(await revokedBy('migration-cregion')).toEqual([serialOf(migration)])
    const { crl } = await authority.issueMigration('10.0.0.6', 'cregion')
    expect(crl).toBe(await read('migration-cregion-crl.pem'))
    expect(crl).not.toBe(migration.crl)
    expect((await openAuthority(store)).crl).toBe(await read('ca-crl.pem'))
    expect(await revokedBy('ca')).not.toContain(serialOf(otherPeer))
    expect(await revokedBy('ca')).not.toContain(serialOf(other))
    expect(await revokeCertificates(none, '10.0.0.6')).toBe(0)
  })

  test('replaces the certificates of the control plane, under the same names', async () => {
    const before = [await read('client.pem'), await read('network-client.pem')]
    await remove('ca.index', 'network-ca.index') // as an older version leaves it
    const { name, replaceClients } = await openAuthority(store)
    expect([await replaceClients(), (await openAuthority(store)).name]).toEqual([2, name])
    expect([await revokedBy('ca'), await revokedBy('network-ca')]).toEqual(
      before.map((cert) => expect.arrayContaining([serialOf({ cert })])),
    )
    expect(await revokedBy('ca')).not.toContain(serialOf({ cert: await read('client.pem') }))
  })

  test('is used by a client that refuses revoked servers', async () => {
    const authority = await openAuthority(store)
    const [revoked, valid] = [await authority.issue('127.0.0.1'), await authority.issueController('127.0.0.1')]
    const connect = async (identity: Identity, ca: string, client: string): Promise<string> => {
      const server = createServer(identity).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const socket = connectTls({ host: '127.0.0.1', port, ...(await readIdentity(store.access, ca, client)) })
      return once(socket, 'secureConnect')
        .then(() => 'connected', String)
        .finally(() => (socket.destroy(), server.close()))
    }
    expect(await connect(revoked, 'ca', 'client')).toBe('connected')
    await remove('ca-crl.pem')
    expect(await connect(revoked, 'ca', 'client')).toBe('connected') // of a version from before there were lists
    await authority.revoke('127.0.0.1')
    expect(await connect(revoked, 'ca', 'client')).toContain('certificate revoked')
    expect(await connect(valid, 'network-ca', 'network-client')).toContain('certificate revoked')
    expect(await connect(await authority.issue('127.0.0.1'), 'ca', 'client')).toBe('connected')
  })

  test('gives chassis a month', async () => {
    const identity = await issueChassis(store, '10.0.0.5')
    expect(Math.round(daysLeft(identity!.cert))).toBe(30)
    expect(await issueChassis(none, '10.0.0.5')).toBeNull()
    await expect(issueChassis(store, 'a/CN=b')).rejects.toThrow('no name of a chassis')
  })

  const replaceByEnding = async (): Promise<string> => {
    const { name } = await openAuthority(store)
    const soon = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '20', '-subj', `/CN=${name}`]
    await withAuthorityFiles(store, (folder) =>
      run('openssl', 'req', ...soon, '-keyout', join(folder, 'client.key'), '-out', join(folder, 'client.pem')),
    )
    return name
  }

  test('renews the client certificate before it expires, under the same name', async () => {
    const name = await replaceByEnding()
    const ending = await read('client.pem')
    expect(checkExpiry('it', ending, 'renew it')).toMatchObject({ status: 'warning', message: 'it expires in 19 days', fix: 'renew it' })
    expect((await openAuthority(store)).name).toBe(name)
    const renewed = await read('client.pem')
    expect(daysLeft(renewed)).toBeGreaterThan(800)
    expect(checkExpiry('it', renewed, 'renew it')).toMatchObject({ status: 'ok' })
    expect(checkExpiry('it', null, 'renew it')).toBeNull()
  })

  test('is used by the worker to renew the client certificate', async () => {
    await replaceByEnding()
    const config = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_DRAIN_SECONDS: '1', BERTH_HYPERVISOR: 'simulated' })
    const core = await openCore(config, store.db.url, createLog({ level: 'silent', pretty: false }), { worker: true })
    const worker = await openWorker(core)
    onTestFinished(async () => {
      await worker.close()
      await core.close()
    })
    await expect.poll(async () => daysLeft(await read('client.pem'))).toBeGreaterThan(800)
  })

  test('is not created by a worker: many installations need none', async () => {
    await renewClientCertificate(none)
    expect(await none.db.many(sql`select name from pki_files`)).toEqual([])
  })

  test('is replaced by another, which has signed nothing but for the control plane', async () => {
    const before = await openAuthority(store)
    await replaceAuthority(store, 'ca')
    await replaceAuthority(store, 'chassis-ca')
    const after = await openAuthority(store)
    expect([after.ca === before.ca, after.chassisCa === before.chassisCa, after.networkCa === before.networkCa]).toEqual([
      false,
      false,
      true,
    ])
    expect(after.name).toBe(before.name)
    expect(new X509Certificate(await read('client.pem')).verify(new X509Certificate(after.ca).publicKey)).toBe(true)
    expect([await revokedBy('ca'), await after.revoke('10.0.0.6')]).toEqual([[], 2]) // those of migrations, in two regions
  })
})

describe('a bundle for a host', () => {
  test('has a range that no other host has, also when it is reissued', async () => {
    const out = join(dataDir, 'bundle')
    const made = await issueBundle(store, '10.0.0.5', { regionId: 'here', inUse: ['10.77.0.0/16'], controllers: null }, out)
    expect([made.range, (await stat(out)).mode & 0o777]).toEqual(['10.78.0.0/16', 0o600])
    expect(await readBundle(out)).toEqual(made)
    expect((await issueBundle(store, '10.0.0.6', { regionId: 'here', inUse: ['10.77.0.0/16'], controllers: null }, out)).range).toBe(
      '10.79.0.0/16',
    )
    expect(
      (await issueBundle(store, '10.0.0.5', { regionId: 'here', inUse: ['10.77.0.0/16', '10.78.0.0/16'], controllers: null }, out)).range,
    ).toBe('10.78.0.0/16')
    expect(await issuedRange(store, '10.0.0.6')).toBe('10.79.0.0/16')
  })

  test('makes it a chassis of the network controllers of its region', async () => {
    const out = join(dataDir, 'bundle')
    const { chassis, peers } = await issueBundle(
      store,
      'fd00::5',
      { regionId: 'here', inUse: [], controllers: ['10.0.0.1', '10.0.0.2'] },
      out,
    )
    expect(chassis).toMatchObject({ name: 'fd00--5', controllers: ['10.0.0.1', '10.0.0.2'], ca: (await openAuthority(store)).networkCa })
    expect(peers).toMatchObject({
      allowedName: 'CN=berth-peer-here',
      qemu: { ca: expect.any(String), crl: expect.stringContaining('X509 CRL') },
    })
    expect((await readBundle(out)).chassis).toEqual(chassis)
  })

  test('rejects other files and invalid addresses', async () => {
    await expect(readBundle(join(dataDir, 'nothing'))).rejects.toThrow('cannot be read')
    await expect(readBundle(join(dataDir, 'master.key'))).rejects.toThrow('is not a certificate made by berthd host certificate')
    await expect(issueBundle(store, '-subj /CN=x', { regionId: 'here', inUse: [], controllers: null }, join(dataDir, 'b'))).rejects.toThrow(
      'neither an address nor a name',
    )
  })
})
