// Which VMs have to be told by their guest agents where the routes and peers of their networks are: systems with fixed addresses do not ask DHCP. What
// they are told is read when they are asked (vms/reconcilers/guest-routes.reconciler.ts).
import { announcedRanges } from '../../hypervisor/network-controller.ts'
import type { GuestRoutes } from '../../hypervisor/driver.ts'
import { sql, type Queries, type Sql } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { payerOf } from '../accounts/service.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { attachedNetworks, attachmentsOf, networkSpec } from './attachments.ts'

export const TELL_ROUTES = 'vms.guest_routes'

/** Of VMs whose networks have changed: they may have to lose some. */
export const markRoutesOfNetworkDue = (db: Queries, now: Date, networkIds: string[]) =>
  markDue(db, now, sql`a.network_id = any(${networkIds}::text[])`)

/** Of one whose guest has booted, which has lost them, or that was attached to a network or detached. */
export const markGuestRoutesDue = (db: Queries, now: Date, vmId: string) =>
  markDue(
    db,
    now,
    sql`a.vm_id = ${vmId} and (exists (select from network_routes r where r.network_id = a.network_id)
      or exists (select from network_peerings p where a.network_id in (p.network_id, p.peer_id)))`,
  )

/** In a fixed order, so that concurrent changes do not deadlock. */
async function markDue(db: Queries, now: Date, which: Sql): Promise<void> {
  const marked = await db.run(sql`
    insert into guest_routes (vm_id, version, is_told, wanted_at, due_at)
    select vm_id, gen_random_uuid(), false, ${now}, ${now} from (select distinct a.vm_id from network_attachments a where ${which} order by a.vm_id) attached
    on conflict (vm_id) do update set version = excluded.version, is_told = false, wanted_at = excluded.wanted_at, due_at = excluded.due_at`)
  if (marked > 0) await triggerReconciler(db, TELL_ROUTES)
}

/** Where two of its networks lead to the same range, the first does. What it is attached to it knows, and what is routed to it is behind it. */
export async function guestRoutesOf(db: Queries, vmId: string): Promise<GuestRoutes[]> {
  const networks = await attachedNetworks(db, vmId)
  const known = new Set([...networks.map(({ cidr }) => cidr), ...(await attachmentsOf(db, vmId)).flatMap(({ ranges }) => ranges)])
  const routes: GuestRoutes[] = []
  for (const network of networks) {
    const { gateway, ...spec } = await networkSpec(db, network)
    const ranges = announcedRanges({ ...spec, snat: null }).filter((range) => !known.has(range))
    for (const range of ranges) known.add(range)
    if (gateway !== null && ranges.length > 0) routes.push({ gateway, ranges })
  }
  return routes
}

/** Whether its guest has them, as far as its agent said. */
export const areRoutesTold = async (db: Queries, vmId: string): Promise<boolean> =>
  (await db.maybe(sql`select from guest_routes where vm_id = ${vmId} and is_told`)) !== undefined

export type DueRoutes = Pick<Row<'guest_routes'>, 'vm_id' | 'version' | 'wanted_at'> & { payer_id: string; is_silent: boolean }

/** Of running VMs, and of deleted ones. Round robin by payer, those that have not been silent first. */
export const dueRoutes = (db: Queries, now: Date) =>
  db.many<DueRoutes>(sql`
    select g.vm_id, g.version, g.wanted_at, coalesce(y.payer_id, '') as payer_id, g.due_at > g.wanted_at as is_silent
    from guest_routes g left join vms v on v.id = g.vm_id cross join lateral (select ${payerOf(sql`v.account_id`)} as payer_id) y
    where g.due_at <= ${now} and (v.id is null or v.status = 'RUNNING')
    order by row_number() over (partition by y.payer_id order by g.due_at > g.wanted_at, g.due_at, g.vm_id), g.due_at, g.vm_id limit 500`)

/** Each of these three does nothing where it is due again by another change. */
const unchanged = ({ vm_id, version }: DueRoutes): Sql => sql`vm_id = ${vm_id} and version = ${version}`

export const recordTold = (db: Queries, due: DueRoutes, lookAgainAt: Date) =>
  db.run(sql`update guest_routes set is_told = true, wanted_at = ${lookAgainAt}, due_at = ${lookAgainAt} where ${unchanged(due)}`)

export const recordUntold = (db: Queries, due: DueRoutes, nextTryAt: Date) =>
  db.run(sql`update guest_routes set is_told = false, due_at = ${nextTryAt} where ${unchanged(due)}`)

export const forgetRoutes = (db: Queries, due: DueRoutes) => db.run(sql`delete from guest_routes where ${unchanged(due)}`)

/** After an answer that came later than a change: an older state may have been told after a newer one. */
export const retellRoutes = (db: Queries, now: Date, vmId: string) =>
  db.run(
    sql`update guest_routes set version = gen_random_uuid(), is_told = false, wanted_at = ${now}, due_at = ${now} where vm_id = ${vmId}`,
  )
