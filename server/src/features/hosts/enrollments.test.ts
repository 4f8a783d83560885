// Hosts that operators add in the dashboard.
import { beforeEach, expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { revokedSerials } from '../../host-setup/certificate-authority.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import type { Deps } from '../deps.ts'
import { enrollHosts } from './enroll.reconciler.ts'
import { BUNDLE_PATH, bundleIdOf, openBundle } from './enrollments.ts'
import { heartbeat } from './heartbeat.reconciler.ts'
import type { HostCheck, VerifiedHost } from './host-setup.ts'
import { listHosts, removeHost } from './service.ts'

const app = await testApp()
const operator = await givenBrowser(app, { isOperator: true })
await operator.post('/operator/regions', { slug: 'ams1', name: 'Amsterdam 1', country: 'NL', city: 'Amsterdam' })
await app.db.run(sql`update regions set network_controller = 'ssl:127.0.0.1' where slug = 'ams1'`)
const HOST = { name: 'rack1', address: '127.0.0.1', region: 'ams1' }
const MACHINE: VerifiedHost = {
  hostname: 'rack1',
  arch: 'x86_64',
  acceleration: 'kvm',
  guestTypes: ['x86_64'],
  vcpu: 8,
  ramMiB: 16_384,
  diskGiB: 100,
}
const OK: HostCheck = { status: 'ok', message: 'reached rack1', fix: null }

beforeEach(async () => {
  await operator.signIn(operator.person.email)
  await app.db.run(sql`delete from host_enrollments`)
  for (const host of await listHosts(app.db)) if (host.driver === 'libvirt') await app.db.tx((tx) => removeHost(tx, app.clock.now(), host))
})

const enroll = async (order: object = {}) => {
  const { status, body } = await operator.post('/operator/host-enrollments', { ...HOST, ...order })
  expect([status, body.error]).toEqual([201, undefined])
  return body.data as { id: string; token: string; endsAt: string }
}
const listed = async () => (await operator.get('/operator/host-enrollments')).body.data
const ask = async (id: string) => {
  const { statusCode, headers, payload } = await app.app.inject({ method: 'POST', url: BUNDLE_PATH, payload: { id } })
  return { status: statusCode, code: headers['x-error-code'], body: JSON.parse(payload) as { data: { sealed: string } } }
}
const fetchBundle = (token: string) => ask(bundleIdOf(token))
const fetched = async (order: object = {}) => {
  const made = await enroll(order)
  expect((await fetchBundle(made.token)).status).toBe(200)
  return made
}
/** As if a prepared host were there. */
const verifying = (checks: HostCheck[] = [OK], host: VerifiedHost | null = MACHINE): Deps => ({
  ...app.deps,
  hostSetup: { ...app.deps.hostSetup, verify: async () => ({ checks: [...checks], host }) },
})
const codeOf = async (method: 'post' | 'delete', path: string, body?: object) => {
  const { status, headers } = await operator[method](path, body)
  return `${status} ${headers['x-error-code']}`
}

test('a token gives its host the certificates, once and sealed', async () => {
  const { token, id, endsAt } = await enroll()
  expect([token, endsAt]).toEqual([expect.stringMatching(/^berthhost_\w{46}$/), addDuration(app.clock.now(), '1h').toISOString()])
  expect(JSON.stringify(await listed())).not.toContain(token)
  expect(await listed()).toMatchObject([{ id, ...HOST, state: 'WAITING', checks: [], hostId: null }])
  const { status, body } = await fetchBundle(token)
  expect(status).toBe(200)
  const bundle = JSON.parse(openBundle(token, Buffer.from(body.data.sealed, 'base64')))
  expect(bundle).toMatchObject({
    address: '127.0.0.1',
    isEnrolled: true,
    chassis: { controllers: ['127.0.0.1'] },
    key: expect.stringContaining('PRIVATE'),
  })
  expect(body.data.sealed).not.toContain(Buffer.from(bundle.key.slice(40, 80)).toString('base64'))
  expect((await fetchBundle(token)).code).toBe('link_gone')
  expect((await listed())[0].state).toBe('FETCHED')
})

test('a host is checked until it can be registered', async () => {
  await fetched()
  await enrollHosts.runOnce(app.deps)
  expect(await listed()).toMatchObject([
    {
      state: 'FETCHED',
      checks: [
        { status: 'failure', message: expect.stringContaining('cannot be reached'), fix: expect.stringContaining('berthd host prepare') },
      ],
    },
  ])
  await enrollHosts.runOnce(verifying([OK, { status: 'failure', message: 'no pool', fix: 'prepare it' }]))
  expect(await listed()).toMatchObject([
    { state: 'FETCHED', checks: [OK, { message: 'no pool', fix: 'prepare it' }], checkedAt: expect.any(String) },
  ])
  await enrollHosts.runOnce(verifying([OK, { status: 'warning', message: 'no KVM', fix: 'look' }]))
  const [{ state, hostId }] = await listed()
  const hosts = (await operator.get('/operator/hosts')).body.data
  expect([state, hosts.find(({ id }: { id: string }) => id === hostId)]).toEqual([
    'JOINED',
    expect.objectContaining({
      name: 'rack1',
      region: 'ams1',
      uri: 'qemu+tls://127.0.0.1/system',
      state: 'unseen',
      vcpu: { used: 0, total: 32 },
    }),
  ])
  const pools = (await operator.get('/operator/pools')).body.data.filter(({ host }: { host: string }) => host === 'rack1')
  expect(pools).toMatchObject([{ cidr: expect.stringMatching(/^10\.\d+\.0\.0\/16$/), dns: ['1.1.1.1', '9.9.9.9'] }])
  expect(await codeOf('post', '/operator/host-enrollments', { ...HOST, name: 'rack2' })).toBe('409 already_exists')
  expect(await codeOf('post', '/operator/host-enrollments', { ...HOST, address: '10.0.0.9' })).toBe('409 already_exists')
})

test('a host with an uplink has no range of its own', async () => {
  await fetched({ uplink: 'eth1' })
  await enrollHosts.runOnce(verifying())
  expect((await listed())[0]).toMatchObject({ state: 'JOINED', uplink: 'eth1' })
  expect((await operator.get('/operator/pools')).body.data.filter(({ host }: { host: string }) => host === 'rack1')).toEqual([])
})

test('why a host cannot be registered is shown as a check', async () => {
  await fetched()
  await enrollHosts.runOnce(verifying())
  await fetched({ name: 'rack2', address: '10.0.0.6' })
  await enrollHosts.runOnce(verifying())
  expect((await listed())[0]).toMatchObject({
    name: 'rack2',
    state: 'FETCHED',
    checks: [OK, { status: 'failure', message: expect.stringContaining('calls itself rack1 too'), fix: null }],
  })
})

test('what is revoked, or too late, gives nothing, and its certificates are revoked', async () => {
  const store = { db: app.db, vault: app.deps.vault }
  const before = (await revokedSerials(store)).length
  const { id, token } = await enroll()
  expect((await operator.delete(`/operator/host-enrollments/${id}`)).body.data.state).toBe('REVOKED')
  expect((await fetchBundle(token)).status).toBe(410)
  expect(await codeOf('delete', `/operator/host-enrollments/${id}`)).toBe('409 invalid_state')
  const late = await enroll()
  app.clock.advance('1h')
  expect([(await fetchBundle(late.token)).status, (await listed())[0].state]).toEqual([410, 'EXPIRED'])
  await operator.signIn(operator.person.email)
  await fetched()
  app.clock.advance('24h')
  await enrollHosts.runOnce(verifying())
  await operator.signIn(operator.person.email)
  expect((await listed())[0].state).toBe('REVOKED')
  expect((await revokedSerials(store)).length).toBeGreaterThan(before)
  expect((await ask('x')).status).toBe(400)
})

test('is refused where it cannot be done', async () => {
  await enroll()
  const refused = (order: object) => codeOf('post', '/operator/host-enrollments', { ...HOST, name: 'rack3', address: '10.0.0.7', ...order })
  expect(await refused({ region: 'fra1' })).toBe('409 invalid_state')
  expect(await refused({ region: 'nowhere' })).toBe('404 not_found')
  expect(await refused({ name: 'rack1' })).toBe('409 already_exists')
  expect(await refused({ address: '127.0.0.1' })).toBe('409 already_exists')
  expect(await refused({ name: 'local' })).toBe('409 already_exists')
  expect(await refused({ address: 'no address' })).toBe('400 validation_failed')
  expect(await refused({ uplink: '$(id)' })).toBe('400 validation_failed')
  const user = await givenBrowser(app)
  expect((await user.post('/operator/host-enrollments', HOST)).status).toBe(403)
  app.clock.advance('16m')
  expect(await refused({})).toBe('403 reauthentication_required')
})

test('a simulated host is added where no host is real', async () => {
  const host = { name: 'second', region: 'fra1', vcpu: 8, ramMiB: 16_384, diskGiB: 100 }
  const { status, body } = await operator.post('/operator/hosts', host)
  expect([status, body.data]).toEqual([201, expect.objectContaining({ name: 'second', driver: 'simulated', state: 'unseen' })])
  await heartbeat.runOnce(app.deps)
  expect((await operator.get(`/operator/hosts/${body.data.id}`)).body.data).toMatchObject({ state: 'ready', diskGiB: { total: 100 } })
  expect(await codeOf('post', '/operator/hosts', host)).toBe('409 already_exists')
  expect(await codeOf('post', '/operator/hosts', { ...host, name: 'third', region: 'ams1' })).toBe('409 invalid_state')
  expect(await codeOf('post', '/operator/hosts', { ...host, name: 'third', region: 'nowhere' })).toBe('404 not_found')
  await fetched()
  await enrollHosts.runOnce(verifying())
  expect(await codeOf('post', '/operator/hosts', { ...host, name: 'third' })).toBe('409 invalid_state')
})
