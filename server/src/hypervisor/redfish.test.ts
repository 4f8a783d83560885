// Whom a card is believed to be: by its certificate, and by the UUID of its system.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { createAuthority } from '../../../libvirt/test/certificates.ts'
import { redfishServer, type RedfishServer } from '../../test/redfish-server.ts'
import { certificatesIn, readCertificate } from './pinned-tls.ts'
import { ensureOff, isSameUuid, readPower, readSystem, type PowerController } from './redfish.ts'

const soon = (): AbortSignal => AbortSignal.timeout(10_000)

describe('a management card', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-card-'))
  afterAll(() => rm(folder, { recursive: true }))
  const authority = await createAuthority(folder)
  const named = await authority.issue('named', ['IP:127.0.0.1'])
  const nameless = await authority.issue('nameless', [])
  const controllerOf = ({ url, user, password, uuid }: RedfishServer, ca: string | null): PowerController => ({
    url,
    user,
    password,
    ca,
    systemUuid: uuid,
  })

  test('is told nothing while its certificate is not trusted, and the way out is named', async () => {
    const card = await redfishServer(undefined, nameless)
    const { fingerprint256 } = new X509Certificate(nameless.cert)
    for (const ca of [null, authority.ca, named.cert])
      await expect(ensureOff(controllerOf(card, ca), soon())).rejects.toMatchObject({
        kind: 'permanent',
        message: expect.stringMatching(
          new RegExp(`^${card.url}: its certificate is not trusted \\([A-Z_]+\\).*--fingerprint ${fingerprint256}.*--ca-file`),
        ),
      })
    expect([card.requests, card.power]).toEqual([0, 'On'])
  })

  test('is trusted by its own certificate whatever name that has, and by the authority of one with its name', async () => {
    const [own, issued] = [await redfishServer(undefined, nameless), await redfishServer(undefined, named)]
    const fetched = await readCertificate(new URL(own.url), soon())
    expect(fetched.fingerprint256).toBe(new X509Certificate(nameless.cert).fingerprint256)
    for (const [card, ca] of [
      [own, fetched.toString()],
      [issued, authority.ca],
    ] as const) {
      const controller = controllerOf(card, ca)
      expect(await readPower(controller, soon())).toBe('On')
      await ensureOff(controller, soon())
      await ensureOff(controller, soon())
      expect([card.power, await readPower(controller, soon())]).toEqual(['Off', 'Off'])
    }
    expect(certificatesIn(`${authority.ca}\n${named.cert}`)).toHaveLength(2)
    expect(() => certificatesIn('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).toThrow(/PEM|asn1|ASN1/i)
  })

  test('is not used for another machine than the one that was compared', async () => {
    const card = await redfishServer()
    const controller = controllerOf(card, null)
    card.uuid = '11111111-2222-3333-4444-555555555555'
    expect(await readSystem(controller, soon())).toEqual({ uuid: card.uuid, power: 'On' })
    for (const each of [controller, { ...controller, systemUuid: null }]) {
      await expect(ensureOff(each, soon())).rejects.toMatchObject({ kind: 'permanent' })
      await expect(readPower(each, soon())).rejects.toMatchObject({ kind: 'permanent' })
    }
    expect(card.power).toBe('On')
  })

  test('that does not answer, or has no such system, is an error that says so', async () => {
    const card = await redfishServer()
    const controller = controllerOf(card, null)
    const refused = (change: Partial<PowerController>, error: object) =>
      expect(readPower({ ...controller, ...change }, soon())).rejects.toMatchObject(error)
    await refused({ password: 'guess' }, { kind: 'permanent', message: expect.stringContaining('answered 401') })
    const wrong = { kind: 'permanent', message: expect.stringContaining('answered 404') }
    await refused({ url: `${card.url}/redfish/v1/Systems/2` }, wrong)
    await refused({ url: 'https://127.0.0.1:1' }, { kind: 'unreachable' })
    await refused({ url: card.url.replace('http:', 'https:') }, { kind: 'unreachable' })
    await expect(readPower(controller, AbortSignal.abort())).rejects.toMatchObject({ kind: 'aborted' })
  })
})

test('UUIDs are the same in either order of bytes', () => {
  const uuid = '00112233-4455-6677-8899-aabbccddeeff'
  expect(isSameUuid(uuid.toUpperCase(), uuid)).toBe(true)
  expect(isSameUuid('33221100-5544-7766-8899-aabbccddeeff', uuid)).toBe(true)
  expect(isSameUuid('33221100-5544-7766-8899-aabbccddeefe', uuid)).toBe(false)
})
