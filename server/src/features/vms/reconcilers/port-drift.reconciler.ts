// Compares the ports of a region's controller with the database: those that are missing, outdated or different are applied again, those that
// no interface needs are removed. VMs with an open action are left to it.
import type { Port } from '../../../hypervisor/network-controller.ts'
import { json, sql, type Queries } from '../../../kernel/database/db.ts'
import { hasOpenRun } from '../../../workflow/run-store.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { callController, regionsWithHosts } from '../../hosts/service.ts'
import { APPLY_PORTS } from '../../ports/service.ts'
import { currentSpeed } from '../model/machine-spec.ts'

export const watchPorts = keyedReconciler('vms.port_drift', '45s', {
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
  const wrong = await markWrong(db, clock.now(), regionId, present)
  if (wrong.length > 0) {
    log.warn({ regionId, vmIds: wrong.map((row) => row.vm_id) }, 'ports missing or different in region; reapplying')
    await triggerReconciler(db, APPLY_PORTS)
  }
  for (const { mac } of await unneeded(db, regionId, present)) {
    const failed = await callController(deps, regionId, stopping, (controller, signal) => controller.ensureNoPort(mac, signal))
    if (!failed) log.warn({ regionId, mac }, 'unknown port removed from region')
  }
}

/** Of the ports that a controller has listed. */
const listed = (ports: Port[]) => sql`
  jsonb_to_recordset(${json(ports)}::jsonb) as p("vmId" text, mac macaddr, "networkId" text, host text, "limitMbps" int, version int)`

/** The interfaces of VMs that have a place in the region. */
const wanted = (regionId: string) => sql`
  select v.id as vm_id, h.hostname as host, i.mac, i.network_id, i.mbps from vms v join hosts h on h.id = v.host_id,
    lateral (
      select v.mac, null::text as network_id, ${currentSpeed(sql`v`)} as mbps
      union all select a.mac, a.network_id, null from network_attachments a where a.vm_id = v.id) i
  where v.region_id = ${regionId}`

/** Marks ports to be applied again, except those that are being applied. */
const markWrong = (db: Queries, now: Date, regionId: string, present: Port[]) =>
  db.many<{ vm_id: string }>(sql`
    update vm_ports s set applied_version = null
    where s.is_managed and s.applied_version is not null and coalesce(s.claimed_until, '-infinity') <= ${now} and not ${hasOpenRun(sql`s.vm_id`)}
      and s.vm_id in (
        select w.vm_id from (${wanted(regionId)}) w left join ${listed(present)} on p.mac = w.mac
        where p.mac is null or (w.host, w.network_id, w.mbps, s.applied_version) is distinct from (p.host, p."networkId", p."limitMbps", p.version))
    returning s.vm_id`)

/** A MAC address is never allocated again, except by the rollback of an open action: what is unneeded now stays so. */
const unneeded = (db: Queries, regionId: string, present: Port[]) =>
  db.many<{ mac: string }>(sql`
    select p.mac from ${listed(present)}
    where not exists (select from (${wanted(regionId)}) w where w.mac = p.mac) and (p."vmId" is null or not ${hasOpenRun(sql`p."vmId"`)})`)
