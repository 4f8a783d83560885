// How a host is added from the dashboard. A token, shown once, lets the new host fetch its bundle, once and within an hour: the bundle is sealed by it, so
// that neither the database nor whoever reads along on the way has the keys. From then on a worker checks the host until it can be registered.
import { addressIn, canonicalAddress, tlsUri } from '../../hypervisor/host-address.ts'
import { controllersIn, isAddress } from '../../hypervisor/network-controller-address.ts'
import { addDuration } from '../../kernel/clock.ts'
import { isWellFormedToken, newToken, sha256, vaultFrom } from '../../kernel/crypto.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { getRegion, type RegionRow } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import * as sql from './enrollments.sql.ts'
import type { IssuedBundle } from './host-setup.ts'
import { HOST_NAME, rangesInUse } from './registration.ts'
import { findHost, listHosts } from './sql.ts'

export type { ListedEnrollment } from './enrollments.sql.ts'

export const BUNDLE_PATH = '/host-bundle'
const PREFIX = 'berthhost_'
const VALID = '1h'
/** How long the host may take from its token to its registration. */
const PATIENCE = '24h'
const CONTEXT = 'host bundle'
export const ENROLL = 'hosts.enroll'

/** By what the new host has of the token. */
export const bundleIdOf = (token: string): string => vaultFrom(sha256(token)).digest(CONTEXT).toString('hex')
export const isBundleToken = (token: string): boolean => isWellFormedToken(PREFIX, token)
export const openBundle = (token: string, sealed: Buffer): string => vaultFrom(sha256(token)).open(sealed, CONTEXT)

type EnrollmentState = 'WAITING' | 'FETCHED' | 'JOINED' | 'EXPIRED' | 'REVOKED'

export const endOf = ({ fetched_at, created_at, expires_at }: sql.EnrollmentRow): Date =>
  fetched_at ? addDuration(created_at, PATIENCE) : expires_at

export function stateOf(row: sql.EnrollmentRow, now: Date): EnrollmentState {
  if (row.joined_at) return 'JOINED'
  if (row.revoked_at) return 'REVOKED'
  if (endOf(row) <= now) return 'EXPIRED'
  return row.fetched_at ? 'FETCHED' : 'WAITING'
}

interface EnrollmentOrder {
  name: string
  address: string
  /** Id or slug. */
  region: string
  uplink?: string | null
}

interface Prepared extends IssuedBundle {
  regionId: string
}

/** Before the transaction: certificates are made by another program. */
export async function prepareEnrollment({ db, clock, hostSetup }: Deps, order: EnrollmentOrder): Promise<Prepared> {
  const region = await requirePossible(db, clock.now(), order)
  const issued = await hostSetup.issueBundle(order.address, {
    regionId: region.id,
    inUse: await rangesInUse(db),
    controllers: controllersOf(region),
  })
  return { ...issued, regionId: region.id }
}

async function requirePossible(db: Queries, now: Date, { name, address, region: wanted }: EnrollmentOrder): Promise<RegionRow> {
  if (!HOST_NAME.test(name)) throw invalid('must be 1-63 lower-case letters, digits or hyphens', 'name')
  if (!isAddress(address)) throw invalid('must be an IP address or a host name', 'address')
  const region = await getRegion(db, wanted)
  controllersOf(region)
  const known = await findHost(db, name)
  if (known && !known.removed_at) throw apiError('already_exists', `There is a host ${name} already: choose another name`)
  const twin = (await listHosts(db)).find(({ uri }) => isAt(addressIn(uri), address))
  if (twin) throw apiError('already_exists', `${address} is the host ${twin.name} already`)
  const same = (await sql.listUnfinished(db)).find((row) => endOf(row) > now && (row.name === name || isAt(row.address, address)))
  if (same) throw apiError('already_exists', `${same.name} at ${same.address} is being added already: revoke that token first`)
  return region
}

const isAt = (one: string, other: string): boolean => canonicalAddress(one) === canonicalAddress(other)

function controllersOf({ slug, network_controller: uri }: RegionRow): string[] {
  const controllers = uri && controllersIn(uri)
  if (controllers) return controllers
  const what = uri ? `is ${uri}, which other machines do not reach` : 'is not set up'
  throw apiError(
    'invalid_state',
    `The network controller of region ${slug} ${what}: let it serve other machines first, as docs/operate/hosts.md says under "Network controllers"`,
  )
}

export async function createEnrollment(tx: Tx, now: Date, order: EnrollmentOrder, { text, range, gateway, regionId }: Prepared) {
  await requirePossible(tx, now, order)
  const token = newToken(PREFIX)
  const id = newId()
  await sql.insertEnrollment(tx, {
    id,
    region_id: regionId,
    name: order.name,
    address: order.address,
    uplink: order.uplink ?? null,
    token_hash: Buffer.from(bundleIdOf(token), 'hex'),
    sealed_bundle: vaultFrom(sha256(token)).seal(text, CONTEXT),
    range,
    gateway,
    created_at: now,
    expires_at: addDuration(now, VALID),
  })
  return { row: (await sql.findEnrollment(tx, id))!, token }
}

export const listEnrollments = (db: Queries) => sql.listEnrollments(db)

/** The bundle, once. */
export async function fetchBundle(tx: Tx, now: Date, bundleId: string): Promise<string> {
  const row = await sql.lockByToken(tx, Buffer.from(bundleId, 'hex'))
  if (!row?.sealed_bundle || stateOf(row, now) !== 'WAITING')
    throw apiError(
      'link_gone',
      'This token was used already, was revoked, has expired or never was one. Make another in the dashboard: Hosts, Add host',
    )
  await sql.markFetched(tx, now, row.id)
  await triggerReconciler(tx, ENROLL)
  return row.sealed_bundle.toString('base64')
}

export async function revokeEnrollment(tx: Tx, now: Date, id: string): Promise<sql.ListedEnrollment> {
  const row = await sql.lockEnrollment(tx, id)
  if (!row) throw notFound('Host enrollment')
  const state = stateOf(row, now)
  if (state !== 'WAITING' && state !== 'FETCHED') throw apiError('invalid_state', `The host ${row.name} is not being added any more`)
  await sql.markRevoked(tx, now, id)
  await triggerReconciler(tx, ENROLL)
  return (await sql.findEnrollment(tx, id))!
}

export const uriOf = ({ address }: Pick<sql.EnrollmentRow, 'address'>): string => tlsUri(address)
