// Checks hosts that have fetched their bundle until they can be registered, and takes back the certificates of those that are not added any more.
import { addressIn, canonicalAddress } from '../../hypervisor/host-address.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { ApiError } from '../../kernel/errors.ts'
import { reconciler, type Deps } from '../deps.ts'
import * as sql from './enrollments.sql.ts'
import { ENROLL, endOf, stateOf, uriOf, type ListedEnrollment } from './enrollments.ts'
import { registerHost } from './registration.ts'
import { RESOLVERS } from './public-addresses.ts'
import { listHosts } from './sql.ts'

const REMEMBERED = '90d'

export const enrollHosts = reconciler(ENROLL, '10s', async (deps) => {
  const { db, clock } = deps
  const rows = await sql.listUnfinished(db)
  await Promise.all(rows.filter((row) => stateOf(row, clock.now()) === 'FETCHED').map((row) => check(deps, row)))
  for (const row of rows) if (row.fetched_at && endOf(row) <= clock.now()) await sql.markRevoked(db, clock.now(), row.id)
  for (const row of await sql.listUncleaned(db)) await clean(deps, row)
  await sql.forgetBundles(db, clock.now())
  await sql.deleteBefore(db, subtractDuration(clock.now(), REMEMBERED))
})

async function check(deps: Deps, row: ListedEnrollment): Promise<void> {
  const { db, clock, hostSetup, log } = deps
  const { checks, host } = await hostSetup.verify(uriOf(row))
  if (host && checks.every(({ status }) => status !== 'failure'))
    await register(deps, row, host).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      checks.push({ status: 'failure', message: error.message, fix: null })
    })
  await sql.writeChecks(db, clock.now(), row.id, checks)
  log.debug({ host: row.name, checks: checks.length }, 'host that is being added checked')
}

type Verified = NonNullable<Awaited<ReturnType<Deps['hostSetup']['verify']>>['host']>

const register = ({ db, clock, log }: Deps, { id, uplink, range, gateway, region_slug, name, address }: ListedEnrollment, host: Verified) =>
  db.tx(async (tx) => {
    const row = await sql.lockEnrollment(tx, id)
    if (!row || stateOf(row, clock.now()) !== 'FETCHED') return
    const registered = await registerHost(tx, clock.now(), {
      ...host,
      name,
      region: region_slug,
      uri: uriOf({ address }),
      range: uplink === null ? { cidr: range, gateway, dns: RESOLVERS.ipv4 } : null,
    })
    await sql.markJoined(tx, clock.now(), id, registered.id)
    log.info({ host: name, hostId: registered.id }, 'host added')
  })

/** The address may be that of a host, or of another try, by now: what was issued for it before is revoked then. */
async function clean({ db, clock, hostSetup }: Deps, { id, address }: ListedEnrollment): Promise<void> {
  const own = canonicalAddress(address)
  const others = [
    ...(await listHosts(db)).map(({ uri }) => addressIn(uri)),
    ...(await sql.listUnfinished(db)).filter((row) => endOf(row) > clock.now()).map((row) => row.address),
  ]
  if (!others.some((each) => canonicalAddress(each) === own)) await hostSetup.revokeCertificates(address)
  await sql.markCleaned(db, id)
}
