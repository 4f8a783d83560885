// A valid call of every operation of the dashboard. A new operation needs an entry here.
import { Secret, TOTP } from 'otpauth'
import { recordByOperator } from '../src/features/audit-log/service.ts'
import { DEFAULTS } from '../src/features/branding/skin.ts'
import { createRegion } from '../src/features/catalog/service.ts'
import { createEnrollment, prepareEnrollment } from '../src/features/hosts/service.ts'
import { announceMaintenance } from '../src/features/maintenances/service.ts'
import { ensurePart, MINUTES } from '../src/features/metrics/partitions.ts'
import { bytesOf } from '../src/features/metrics/points.ts'
import { issuePasswordLink, issueSignUpLink, issueWelcomeLink } from '../src/features/users/service.ts'
import { startMigration, unmanage } from '../src/features/vms/service.ts'
import { addDuration } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { newId } from '../src/kernel/ids.ts'
import { PASSWORD, type givenBrowser } from './browser.ts'
import type { Call } from './endpoint-table.ts'
import type { TestApp } from './harness.ts'
import { crookedProvider, offer } from './openid-provider.ts'
import { givenHost } from './hosts.ts'

export interface DashboardFixture {
  app: TestApp
  browser: Awaited<ReturnType<typeof givenBrowser>>
}

type Arrange = (fixture: DashboardFixture) => Promise<Call>

const nothing: Arrange = async () => ({})
const body =
  (given: Record<string, unknown>): Arrange =>
  async () => ({ body: given })

export const codeOf = (secret: string, at: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.getTime() })

const someEmail = (): string => `${newId()}@example.com`
const secretOf = (url: string): string => url.split('#')[1]!

/** A customer with a VM, for the operator routes. */
const customer = (app: TestApp) => app.given.customer({ credit: '100.00' })
async function vm(app: TestApp): Promise<string> {
  await app.db.run(sql`update address_pools set host_id = null`) // other calls have added hosts
  return (await app.given.vm(await customer(app))).id
}
const account =
  (given?: Record<string, unknown>): Arrange =>
  async ({ app }) => ({ params: { id: (await customer(app)).accountId }, ...(given && { body: given }) })
const ofVm =
  (prepare: (app: TestApp, id: string) => Promise<unknown> = async () => {}): Arrange =>
  async ({ app }) => {
    const id = await vm(app)
    await prepare(app, id)
    return { params: { id } }
  }
const ticket =
  (given?: Record<string, unknown>): Arrange =>
  async ({ app }) => {
    const made = await (await customer(app)).post('/tickets', { subject: 'Help', body: 'Please' })
    return { params: { id: made.body.data.id as string }, ...(given && { body: given }) }
  }
/** The secret of its link. */
async function invitation(app: TestApp, email: string): Promise<string> {
  const { status, body } = await (await customer(app)).post('/invitations', { email, role: 'read-only' })
  if (status !== 201) throw new Error(`POST /invitations answered ${status}: ${body.error}`)
  return secretOf(body.data.url as string)
}

let providers = 0

/** What a browser comes back with from a provider, after that path was called. */
const returned =
  (path: string, prepare: (fixture: DashboardFixture, provider: string) => Promise<unknown> = async () => {}): Arrange =>
  async (fixture) => {
    const { app, browser } = fixture
    const lying = await crookedProvider()
    const provider = `of-${++providers}`
    await offer(app, lying.issuer, provider)
    lying.lies.claims = { email: someEmail(), email_verified: true, auth_time: Math.floor(Date.now() / 1000) }
    await prepare(fixture, provider)
    const { body } = await browser.post(path, { provider })
    return { body: { provider, response: lying.answerTo(body.data.url as string) } }
  }
const offered: Arrange = async ({ app }) => {
  const provider = `of-${++providers}`
  await offer(app, (await crookedProvider()).issuer, provider)
  return { body: { provider } }
}
/** Of the subject that the provider of tests names. */
const linked = async ({ app, browser }: DashboardFixture, provider: string): Promise<string> => {
  const id = newId()
  await app.db.run(sql`
    insert into identities (id, provider_id, subject, user_id, label, created_at, last_used_at)
    select ${id}, id, 'eve', ${browser.person.id}, 'eve', ${app.clock.now()}, ${app.clock.now()} from identity_providers where name = ${provider}`)
  return id
}
const linkedTo: Arrange = async (fixture) => {
  const call = await offered(fixture)
  await linked(fixture, call.body!['provider'] as string)
  return call
}

let ranges = 0
const LOGO = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')
const ANNOUNCEMENT = { level: 'INFO', text: 'A new region opens' }
/** An address that nobody has. */
const TEMPLATE = { name: 'Alpine', url: 'https://192.0.9.1/disk.qcow2', checksum: 'ab'.repeat(32), firmware: 'uefi', tpm: true }
const MONEY = { amount: '5.00', reason: 'Because' }
const REGION = { name: 'Amsterdam 1', country: 'NL', city: 'Amsterdam' }
const PLAN = { name: 'Tiny', vcpu: 1, ram: 512, disk: 5, bandwidth: 100, networkSpeed: 100, price: '1.50', regions: ['fra1'] }

/** A host without VMs. */
const ofHost =
  (given?: Record<string, unknown>): Arrange =>
  async ({ app }) => ({ params: { id: (await givenHost(app, newId())).id }, ...(given && { body: given }) })
/** In a region whose network controller other machines reach. */
async function newHost({ db, clock }: TestApp) {
  const region = newId()
  await db.tx((tx) => createRegion(tx, clock.now(), { ...REGION, slug: region, available: true }))
  await db.run(sql`update regions set network_controller = 'ssl:127.0.0.1' where slug = ${region}`)
  return { name: newId(), address: `${region}.example.com`, region }
}
async function enrolled(app: TestApp): Promise<string> {
  const order = await newHost(app)
  const prepared = await prepareEnrollment(app.deps, order)
  return (await app.db.tx((tx) => createEnrollment(tx, app.clock.now(), order, prepared))).row.id
}
const makeMovable = async (app: TestApp): Promise<void> => {
  await app.db.run(sql`update address_pools set host_id = null`)
  await givenHost(app, newId())
}

const maintenanceOf = ({ clock, host }: TestApp) => ({
  host: host.name,
  startsAt: addDuration(clock.now(), '1d'),
  endsAt: addDuration(clock.now(), '2d'),
  text: 'New memory',
})
/** In the account of a customer from here on. */
async function visiting({ app, browser }: DashboardFixture): Promise<string> {
  const { accountId } = await customer(app)
  await app.db.run(sql`update users set is_operator = true where id = ${browser.person.id}`)
  const { status, body } = await browser.post(`/operator/accounts/${accountId}/visit`, { reason: 'Ticket 4711' })
  if (status !== 201) throw new Error(`POST /operator/accounts/{id}/visit answered ${status}: ${body.error}`)
  browser.choose(accountId)
  return accountId
}
const announced = (app: TestApp) => app.db.tx((tx) => announceMaintenance(tx, app.deps, maintenanceOf(app)))

export const DASHBOARD: Record<string, Arrange> = {
  getSetup: nothing,
  welcome: async ({ app }) => {
    await app.db.run(sql`update users set is_operator = false`)
    const { url } = await issueWelcomeLink(app.db, app.clock.now(), 'http://localhost')
    return { body: { token: secretOf(url), email: someEmail(), password: PASSWORD } }
  },
  signIn: async ({ browser }) => ({ body: { email: browser.person.email, password: PASSWORD } }),
  signUp: async () => ({ body: { email: someEmail(), password: PASSWORD, name: 'Grace' } }),
  completeSignUp: async ({ app }) => {
    const { url } = await issueSignUpLink(app.db, app.clock.now(), { email: someEmail() }, 'http://localhost', '1h')
    return { body: { token: secretOf(url), password: PASSWORD } }
  },
  previewInvitation: async ({ app }) => ({ body: { token: await invitation(app, someEmail()) } }),
  registerByInvitation: async ({ app }) => ({ body: { token: await invitation(app, someEmail()), password: PASSWORD, name: 'Grace' } }),
  requestPasswordReset: body({ email: 'nobody@example.com' }),
  completePasswordReset: async ({ app, browser }) => {
    const { url } = await issuePasswordLink(app.db, app.clock.now(), browser.person.id, 'http://localhost', '1h')
    return { body: { token: secretOf(url), password: 'another good one' } }
  },

  beginSignInByProvider: offered,
  signInByProvider: returned('/sign-in/with', linked),
  completeSignInByProvider: async (fixture) => {
    const { app, browser } = fixture
    const { secret } = (await browser.post('/totp')).body.data as { secret: string }
    await browser.post('/totp/confirm', { code: codeOf(secret, app.clock.now()) })
    const { body } = await returned('/sign-in/with', linked)(fixture)
    await browser.post('/sign-in/with/complete', body)
    return { body: { totp: codeOf(secret, addDuration(app.clock.now(), '30s')) } }
  },

  getSession: nothing,
  signOut: nothing,
  reauthenticate: body({ password: PASSWORD }),
  changePassword: body({ currentPassword: PASSWORD, newPassword: 'another good one' }),
  changeUser: body({ name: 'Grace' }),
  listSessions: nothing,
  endOtherSessions: nothing,
  endSession: async ({ browser }) => ({ params: { id: (await browser.get('/sessions')).body.data[0].id as string } }),
  beginTotp: nothing,
  confirmTotp: async ({ app, browser }) => {
    const { secret } = (await browser.post('/totp')).body.data as { secret: string }
    return { body: { code: codeOf(secret, app.clock.now()) } }
  },
  getTotp: nothing,
  renewRecoveryCodes: async ({ app, browser }) => {
    const { secret } = (await browser.post('/totp')).body.data as { secret: string }
    const { body } = await browser.post('/totp/confirm', { code: codeOf(secret, app.clock.now()) })
    return { proof: { totp: (body.data as { recoveryCodes: string[] }).recoveryCodes[0]! } }
  },
  removeTotp: nothing,

  listIdentities: nothing,
  beginLinkIdentity: offered,
  linkIdentity: returned('/identities/begin'),
  unlinkIdentity: async (fixture) => {
    const call = await offered(fixture)
    return { params: { id: await linked(fixture, call.body!['provider'] as string) } }
  },
  beginReauthenticateByProvider: linkedTo,
  reauthenticateByProvider: returned('/reauthenticate/with', linked),

  acceptInvitation: async ({ app, browser }) => ({ body: { token: await invitation(app, browser.person.email) } }),
  leaveAccount: async ({ app, browser }) => {
    const { accountId } = await customer(app)
    const { id } = browser.person
    await app.db.run(sql`
      insert into members (account_id, user_id, role, created_at) values (${accountId}, ${id}, 'admin', ${app.clock.now()})`)
    return { params: { id: accountId } }
  },

  listScopes: nothing,

  allowVisitChanges: async (fixture) => {
    await visiting(fixture)
    return { body: { reason: 'They asked for it' } }
  },
  endVisit: async (fixture) => {
    await visiting(fixture)
    return {}
  },

  operatorListHosts: nothing,
  operatorChangeHost: async ({ app }) => ({ params: { id: app.host.id }, body: { maintenance: false } }),
  operatorListHostEnrollments: async ({ app }) => {
    await enrolled(app)
    return {}
  },
  operatorEnrollHost: async ({ app }) => ({ body: { ...(await newHost(app)), uplink: 'eth1' } }),
  operatorRevokeHostEnrollment: async ({ app }) => ({ params: { id: await enrolled(app) } }),
  operatorAddSimulatedHost: async () => ({ body: { name: newId(), region: 'fra1', vcpu: 8, ramMiB: 16_384, diskGiB: 100 } }),
  operatorGetHost: ofHost(),
  operatorGetHostLoad: async ({ app }) => {
    const at = new Date(Math.floor(app.clock.now().getTime() / 60_000) * 60_000 - 300_000)
    const vmId = await vm(app)
    await app.db.run(sql`delete from metrics_slots where host_id = ${app.host.id}`)
    await app.db.run(sql`insert into metrics_slots (host_id, slot, vm_id, since) values (${app.host.id}, 0, ${vmId}, ${at})`)
    await ensurePart(app.db, MINUTES, at)
    await app.db.run(sql`
      insert into metrics_minutes (host_id, at, points)
      values (${app.host.id}, ${at}, ${bytesOf(new Float32Array([50, 10, 20, 30, 40, 512, 1024]))})`)
    return { params: { id: app.host.id } }
  },
  operatorPlanDrain: ofHost(),
  operatorGetDrain: ofHost(),
  operatorStartDrain: ofHost({ concurrency: 1, stopOthers: false, partial: false }),
  operatorCancelDrain: async (fixture) => {
    const call = await ofHost()(fixture)
    await fixture.browser.post(`/operator/hosts/${call.params!['id']}/drain`, {})
    return call
  },
  operatorGetCapacity: nothing,
  operatorListRegions: nothing,
  operatorCreateRegion: async () => ({ body: { ...REGION, slug: newId() } }),
  operatorChangeRegion: async ({ browser }) => {
    const made = await browser.post('/operator/regions', { ...REGION, slug: newId() })
    return { params: { id: made.body.data.id as string }, body: { name: 'Renamed', available: false } }
  },
  operatorGetRevenue: nothing,
  operatorListPools: nothing,
  operatorCreatePool: async () => {
    const range = `172.${20 + Math.floor(ranges / 250)}.${ranges++ % 250}`
    return { body: { region: 'fra1', cidr: `${range}.0/24`, gateway: `${range}.1` } }
  },
  operatorListTemplates: nothing,
  operatorListTemplateImports: async ({ app, browser }) => {
    const { body } = await browser.post('/operator/template-imports', { ...TEMPLATE, slug: newId() })
    await app.db.tx((tx) => app.deps.workflows.cancel(tx, body.data.id as string, 'Not needed'))
    return {}
  },
  operatorImportTemplate: async () => ({ body: { ...TEMPLATE, slug: newId() } }),
  operatorListPlans: nothing,
  operatorCreatePlan: async () => ({ body: { ...PLAN, slug: newId() } }),
  operatorChangePlan: async ({ browser }) => {
    const made = await browser.post('/operator/plans', { ...PLAN, slug: newId() })
    return { params: { id: made.body.data.id as string }, body: { price: '2.00', available: false } }
  },
  operatorListAccounts: nothing,
  operatorCreateAccount: async () => ({ body: { email: someEmail() } }),
  operatorGetAccount: account(),
  operatorCreditAccount: account(MONEY),
  operatorAdjustAccount: account({ ...MONEY, amount: '-5.00' }),
  operatorChangeLimit: async (fixture) => {
    const { params } = await account()(fixture)
    return { params: { ...params, name: 'vms' }, body: { limit: 50 } }
  },
  operatorMakeSetUpLink: account(),
  operatorListTransactions: account(),
  operatorListAuditLog: async (fixture) => {
    const call = await account()(fixture)
    const { app } = fixture
    await app.db.tx(async (tx) => recordByOperator(tx, app.clock.now(), { accountId: call.params!['id']!, action: 'account credit' }))
    await app.deps.audit.sweep()
    return call
  },
  operatorListVisits: async (fixture) => {
    const id = await visiting(fixture)
    fixture.browser.choose(undefined)
    return { params: { id } }
  },
  operatorVisitAccount: account({ reason: 'Ticket 4711' }),
  operatorSuspendAccount: account({ reason: 'Because' }),
  operatorUnsuspendAccount: account(),
  operatorListVms: async ({ app }) => {
    await vm(app)
    return {}
  },
  operatorGetAddressHistory: async ({ app }) => {
    const { address } = await app.db.one<{ address: string }>(sql`select host(ip_address) as address from vms where id = ${await vm(app)}`)
    return { params: { address }, query: `?at=${app.clock.now().toISOString()}` }
  },
  operatorSuspendVm: ofVm(),
  operatorUnsuspendVm: async ({ app, browser }) => {
    const id = await vm(app)
    await browser.post(`/operator/vms/${id}/suspend`)
    await app.settle({ subjectId: id })
    return { params: { id } }
  },
  operatorUnmanageVm: ofVm(),
  operatorAdoptVm: ofVm((app, id) => app.db.tx((tx) => unmanage(tx, app.deps, id))),
  operatorPlanMigration: ofVm(makeMovable),
  operatorStartMigration: async (fixture) => ({ ...(await ofVm(makeMovable)(fixture)), body: { miBPerSecond: 100 } }),
  operatorCancelMigration: ofVm(async (app, id) => {
    await makeMovable(app)
    await app.db.tx((tx) => startMigration(tx, app.deps, id, {}))
  }),
  operatorListActions: async ({ app }) => {
    await vm(app)
    return {}
  },
  operatorGetAction: async ({ app }) => ({ params: { id: (await app.given.vm(await customer(app))).actionId } }),
  operatorRetryAction: async ({ app }) => ({ params: { id: (await app.given.vm(await customer(app), {}, { settled: false })).actionId } }),
  operatorGetBranding: nothing,
  operatorChangeBranding: body({ ...DEFAULTS }),
  operatorResetBranding: nothing,
  operatorSetBrandingImage: async () => ({ params: { name: 'logo' }, body: { data: LOGO } }),
  operatorRemoveBrandingImage: async () => ({ params: { name: 'logo' } }),
  operatorListAnnouncements: async ({ browser }) => {
    await browser.post('/operator/announcements', ANNOUNCEMENT)
    return {}
  },
  operatorCreateAnnouncement: body(ANNOUNCEMENT),
  operatorEndAnnouncement: async ({ browser }) => {
    const made = await browser.post('/operator/announcements', ANNOUNCEMENT)
    return { params: { id: made.body.data.id as string } }
  },
  operatorListMaintenances: async ({ app }) => {
    await announced(app)
    return {}
  },
  operatorAnnounceMaintenance: async ({ app }) => ({ body: JSON.parse(JSON.stringify(maintenanceOf(app))) }),
  operatorCancelMaintenance: async ({ app }) => ({ params: { id: (await announced(app)).id } }),
  operatorListRecoveries: async ({ app }) => {
    await app.db.run(sql`
      insert into failed_recoveries (vm_id, source_id, failures, next_attempt_at) values (${await vm(app)}, ${app.host.id}, 1, ${app.clock.now()})`)
    return {}
  },
  operatorListQuarantine: async ({ app }) => {
    await app.db.run(sql`
      insert into orphan_volumes (host_id, kind, id, vm_id, generation, size_bytes, is_old_disk, first_seen_at, last_seen_at)
      values (${app.host.id}, 'disk', ${newId()}, null, 1, 1024, false, ${app.clock.now()}, ${app.clock.now()})`)
    return {}
  },
  operatorGetHealth: nothing,
  operatorListTickets: async (fixture) => {
    await ticket()(fixture)
    return {}
  },
  operatorGetTicket: ticket(),
  operatorReplyToTicket: ticket({ body: 'Here you are', close: true }),
  operatorCloseTicket: ticket(),
}
