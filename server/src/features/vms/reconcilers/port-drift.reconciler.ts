// Compares the ports of a region's controller with the database: those that are missing, outdated or different are applied again, those that
// no interface needs are removed. VMs with an open action are left to it.
import type { Port } from '../../../hypervisor/network-controller.ts'
import { json, sql, type Queries, type Sql } from '../../../kernel/database/db.ts'
import { hasOpenRun } from '../../../workflow/run-store.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { callController, regionsWithHosts } from '../../hosts/service.ts'
import { APPLY_PORTS, COMPARE_PORTS } from '../../ports/service.ts'
import { currentSpeed } from '../model/machine-spec.ts'

export const watchPorts = keyedReconciler(COMPARE_PORTS, '10m', {
  busy: ({ db }) => regionsWithHosts(db),
  runOnce: compareRegion,
})

async function compareRegion(deps: Deps, regionId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const present: Port[] = []
  const error = await callController(deps, regionId, stopping, async (controller, signal) => {
    for await (const port of controller.listPorts(signal)) present.push(port)
  })
  if (error) return
  for (const page of pagesOf(present)) {
    if (isAsWanted(page, await listWanted(db, regionId, page))) continue
    const wrong = await markWrong(db, clock.now(), regionId, page)
    if (wrong.length > 0) {
      log.warn({ regionId, vmIds: wrong.map((row) => row.vm_id) }, 'ports missing or different in region; reapplying')
      await triggerReconciler(db, APPLY_PORTS)
    }
    for (const { mac } of await unneeded(db, regionId, page)) {
      const failed = await callController(deps, regionId, stopping, (controller, signal) => controller.ensureNoPort(mac, signal))
      if (!failed) log.warn({ regionId, mac }, 'unknown port removed from region')
    }
  }
}

/** A region may have a hundred thousand ports. */
const PAGE = 10_000
const [BELOW_ALL, ABOVE_ALL] = ['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff']

interface Page {
  ports: Port[]
  /** The addresses that it covers; the pages together cover all. */
  after: string
  until: string
}

export function* pagesOf(ports: Port[], size = PAGE): Generator<Page> {
  ports.sort((a, b) => (a.mac < b.mac ? -1 : 1))
  for (let at = 0, after = BELOW_ALL, until = ''; until !== ABOVE_ALL; at += size, after = until) {
    until = ports.length > at + size ? ports[at + size - 1]!.mac : ABOVE_ALL
    yield { ports: ports.slice(at, at + size), after, until }
  }
}

const compared = ({ vmId, mac, networkId, host, limitMbps, version }: Port) => ({ vmId, mac, networkId, host, limitMbps, version })

const listed = ({ ports }: Page) => sql`
  jsonb_to_recordset(${json(ports.map(compared))}::jsonb) as p("vmId" text, mac macaddr, "networkId" text, host text, "limitMbps" int, version int)`

/** The interfaces of VMs that have a place in the region. */
function wanted(regionId: string, { after, until }: Page) {
  const covered = (mac: Sql) => sql`v.region_id = ${regionId} and ${mac} > ${after}::macaddr and ${mac} <= ${until}::macaddr`
  return sql`
    select v.id as vm_id, h.hostname as host, v.mac, null::text as network_id, ${currentSpeed(sql`v`)} as mbps
    from vms v join hosts h on h.id = v.host_id where ${covered(sql`v.mac`)}
    union all select v.id, h.hostname, a.mac, a.network_id, null
    from network_attachments a join vms v on v.id = a.vm_id join hosts h on h.id = v.host_id where ${covered(sql`a.mac`)}`
}

interface Wanted {
  mac: string
  host: string
  network_id: string | null
  mbps: number | null
  version: number | null
  is_managed: boolean | null
}

/**
 * With what was applied of them last. Nearly all are as they should be, which is seen here at less expense than there. By `offset 0` each is
 * looked up: a hash join reads all of vm_ports for every page.
 */
const listWanted = (db: Queries, regionId: string, page: Page) =>
  db.many<Wanted>(sql`
    select w.mac::text as mac, w.host, w.network_id, w.mbps, s.applied_version as version, s.is_managed
    from (${wanted(regionId, page)}) w
    left join lateral (select applied_version, is_managed from vm_ports where vm_id = w.vm_id offset 0) s on true`)

/** Whether there is nothing to mark and nothing to remove. */
function isAsWanted({ ports }: Page, rows: Wanted[]): boolean {
  const known = new Map(rows.map((row) => [row.mac, row]))
  const isRight = ({ mac, host, networkId, limitMbps, version }: Port): boolean => {
    const row = known.get(mac)
    if (!row) return false
    const isSame = row.host === host && row.network_id === networkId && row.mbps === limitMbps && row.version === version
    return isSame || !row.is_managed || row.version === null
  }
  const isMissing = ({ is_managed, version }: Wanted): boolean => is_managed === true && version !== null
  const there = new Set(ports.map(({ mac }) => mac))
  return ports.every(isRight) && rows.every((row) => there.has(row.mac) || !isMissing(row))
}

/** Marks ports to be applied again, except those that are being applied. */
const markWrong = (db: Queries, now: Date, regionId: string, page: Page) =>
  db.many<{ vm_id: string }>(sql`
    update vm_ports s set applied_version = null
    from (${wanted(regionId, page)}) w left join ${listed(page)} on p.mac = w.mac
    where s.vm_id = w.vm_id and s.is_managed and s.applied_version is not null
      and coalesce(s.claimed_until, '-infinity') <= ${now} and not ${hasOpenRun(sql`s.vm_id`)}
      and (p.mac is null or (w.host, w.network_id, w.mbps, s.applied_version) is distinct from (p.host, p."networkId", p."limitMbps", p.version))
    returning s.vm_id`)

/** A MAC address is never allocated again, except by the rollback of an open action: what is unneeded now stays so. */
const unneeded = (db: Queries, regionId: string, page: Page) =>
  db.many<{ mac: string }>(sql`
    select p.mac from ${listed(page)}
    where not exists (select from (${wanted(regionId, page)}) w where w.mac = p.mac)
      and (p."vmId" is null or not ${hasOpenRun(sql`p."vmId"`)})`)
