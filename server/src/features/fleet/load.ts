// Reads what the planner needs to know.
import type { Queries } from '../../kernel/database/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { failedRunsOf, openRunOf } from '../../workflow/run-store.ts'
import { catalogNumbers } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { hostsWithIpv6 } from '../hosts/ipv6-ranges.ts'
import { freeCpusIn, guestNeed, imageNeedsOf, listHostsIn, type HostRow } from '../hosts/service.ts'
import { isPreemptible, requireMovable, requirePair, speedBought, UNRESCUE, vmById } from '../vms/service.ts'
import type { Fleet, FleetGroup, FleetVm } from './plan.ts'
import * as sql from './sql.ts'

/** `vms`: those that may be moved. */
export async function loadFleet(
  db: Queries,
  regionId: string,
  vms: sql.PlannedRow[],
  diskBytes: ReadonlyMap<string, number> = new Map(),
): Promise<Fleet> {
  const [numbers, hosts] = [await catalogNumbers(db), await hostsWithoutProofs(db, regionId)]
  const images = await imageNeedsOf(
    db,
    vms.map(({ id }) => id),
  )
  return {
    hosts,
    vms: vms.map((row) => ({
      ...toFleetVm(row, diskBytes.get(row.id)),
      need: {
        ...sizesOf(row),
        ...guestNeed(row),
        images: images.get(row.id) ?? [],
        traits: row.traits,
        network10g: row.network_10g,
        boughtMbps: speedBought(numbers, { planId: row.plan_id, networkMbps: row.network_mbps }),
        publicIpv4: row.public_ipv4,
        avoid: new Set(row.backup_hosts),
      },
    })),
    groups: await loadGroups(db, vms),
    withIpv6: await hostsWithIpv6(db, regionId),
    freeCpus: await freeCpusIn(db, hosts),
    isPair,
  }
}

const sizesOf = ({ id, vcpu, ram_mib, disk_gib, storage_id, dedicated_cpu }: sql.PlannedRow) => ({
  vcpu,
  ramMiB: ram_mib,
  diskGiB: storage_id === null ? disk_gib : 0,
  ...(dedicated_cpu && { dedicatedFor: id }),
})

/** Where nobody has asked what the disk takes, it is assumed full. */
const toFleetVm = (row: sql.PlannedRow, diskBytes = row.disk_gib * 2 ** 30): Omit<FleetVm, 'need'> => ({
  id: row.id,
  name: row.name,
  hostId: row.host_id,
  groupId: row.group_id,
  never: new Set(row.stale_hosts),
  bytes: (row.status === 'RUNNING' ? row.ram_mib * 2 ** 20 : 0) + (row.storage_id === null ? diskBytes : 0),
})

/** Guests that prove backups give way to VMs. */
async function hostsWithoutProofs(db: Queries, regionId: string): Promise<HostRow[]> {
  const proofs = new Map((await sql.proofRooms(db)).map((room) => [room.host_id, room]))
  return (await listHostsIn(db, regionId)).map((host) => {
    const room = proofs.get(host.id)
    if (!room) return host
    const { vcpu_used, ram_used_mib, disk_used_gib } = host
    return {
      ...host,
      vcpu_used: vcpu_used - room.vcpu,
      ram_used_mib: ram_used_mib - room.ram_mib,
      disk_used_gib: disk_used_gib - room.disk_gib,
    }
  })
}

async function loadGroups(db: Queries, vms: sql.PlannedRow[]): Promise<Map<string, FleetGroup>> {
  const ids = [...new Set(vms.flatMap(({ group_id }) => group_id ?? []))]
  const rows = ids.length === 0 ? [] : await sql.groupsIn(db, ids)
  return new Map(
    [...Map.groupBy(rows, ({ id }) => id)].map(([id, places]) => {
      const { name, policy } = places[0]!
      return [id, { name, policy, vmsByHost: new Map(places.map(({ host_id, vms: count }) => [host_id, count])) }]
    }),
  )
}

function isPair(source: HostRow, host: HostRow): boolean {
  try {
    requirePair(source, host)
    return true
  } catch {
    return false
  }
}

export interface Obstacle {
  reason: string
  /** Goes away by itself. */
  isTemporary: boolean
  /** By the drain, which ends its rescue. */
  isRescue?: boolean
}

interface Patience {
  /** Actions of its owner that begin after it are not waited for. */
  waitsUntil?: Date | undefined
  /** Of a drain that stops VMs. */
  endsRescues?: { since: Date | null } | undefined
}

/** Why the VM cannot leave its host, wherever to. */
export async function findObstacle(db: Queries, vmId: string, { waitsUntil, endsRescues }: Patience = {}): Promise<Obstacle | null> {
  const vm = await vmById(db, vmId)
  if (!vm) return { reason: 'It was deleted meanwhile', isTemporary: false }
  const run = await openRunOf(db, vmId)
  if (run && !isPreemptible(run)) {
    const isTemporary = !waitsUntil || run.created_at <= waitsUntil || run.label === 'MIGRATE'
    const advice = isTemporary ? '' : ': it began when the drain had waited long enough, so drain the host again'
    return { reason: `Its action ${run.label} (${run.id}) has to end first${advice}`, isTemporary }
  }
  if (vm.in_rescue) return findRescueObstacle(db, vmId, endsRescues)
  return requireMovable(db, vm).then(() => null, toObstacle)
}

/** How often the end of a rescue is tried. */
const UNRESCUE_TRIES = 2

async function findRescueObstacle(db: Queries, vmId: string, endsRescues: Patience['endsRescues']): Promise<Obstacle> {
  const advice = `npx berthd vm unrescue ${vmId} restarts it from its own disk`
  if (!endsRescues) return { reason: `It is in rescue. ${advice}, as does a drain with --stop-others`, isTemporary: false }
  const { since } = endsRescues
  const isStuck = since !== null && (await failedRunsOf(db, vmId, UNRESCUE, since)).count >= UNRESCUE_TRIES
  if (isStuck) return { reason: `It is in rescue, which could not be ended ${UNRESCUE_TRIES} times. ${advice}`, isTemporary: false }
  return { reason: 'It is in rescue, which is ended first', isTemporary: true, isRescue: true }
}

export function toObstacle(error: unknown): Obstacle {
  if (!(error instanceof ApiError)) throw error
  return { reason: error.message, isTemporary: error.code === 'busy' || error.code === 'unavailable' }
}

const LIST_MS = 30_000

/** What the disks of VMs take on a host; of none where it does not answer. */
export async function diskBytesOn({ hypervisors, log }: Deps, hostId: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  try {
    for await (const volume of (await hypervisors.get(hostId)).listVolumes(AbortSignal.timeout(LIST_MS)))
      if (volume.kind === 'disk' && volume.storageId === null) sizes.set(volume.id, volume.sizeBytes)
  } catch (error) {
    log.warn({ err: error, hostId }, 'listing volumes failed; disks are assumed full')
  }
  return sizes
}
