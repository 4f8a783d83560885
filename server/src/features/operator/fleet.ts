// Hosts, capacity, addresses and plans.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { invalid, notFound } from '../../kernel/errors.ts'
import { changePlan, changeRegion, createPlan, getRegion, listPlans, listRegions, listTemplateRows } from '../catalog/service.ts'
import { listOpenDrains } from '../fleet/service.ts'
import {
  addPool,
  certificatesOf,
  changeHost,
  chassisOf,
  countPins,
  getHost,
  listHosts,
  listHostsAndDestroyed,
  listPools,
  lostSince,
  pathsOf,
  toCapacity,
} from '../hosts/service.ts'
import { readHostLoad } from '../metrics/service.ts'
import { backendsOfHost } from '../storage/service.ts'
import { listWaitingRecoveries } from '../recovery/service.ts'
import type {
  ChangeHost,
  ChangePlan,
  ChangeRegion,
  CreatePlan,
  CreatePool,
  HostLoadPoint,
  OperatorHost,
  OperatorHostDetails,
  OperatorTemplate,
  Plan,
  Pool,
  Region,
  RegionCapacity,
  WaitingRecovery,
} from './fleet.schema.ts'
import * as sql from './sql.ts'
import { toHost, toHostDetails, toPool, toTemplate, toWaitingRecovery } from './view.ts'

export async function showHosts(db: Queries): Promise<OperatorHost[]> {
  const vms = new Map((await sql.vmsPerHost(db)).map((row) => [row.host_id, row.count]))
  const pins = await countPins(db)
  const draining = new Set((await listOpenDrains(db)).map(({ host_id }) => host_id))
  const hosts = await listHostsAndDestroyed(db)
  const paths = await pathsOf(db, hosts)
  return hosts.map((row) =>
    toHost(row, {
      vmCount: vms.get(row.id) ?? 0,
      pins: pins.get(row.id) ?? 0,
      draining: draining.has(row.id),
      isLost: lostSince(paths.get(row.id)!) !== null,
    }),
  )
}

export async function showHost(db: Queries, id: string): Promise<OperatorHostDetails> {
  const row = await getHost(db, id)
  const host = (await showHosts(db)).find((each) => each.id === row.id)
  if (!host) throw notFound('Host')
  return toHostDetails(host, row, {
    backends: await backendsOfHost(db, row.id),
    ports: await sql.portsOfHost(db, row.id),
    certificates: await certificatesOf(db, row.id),
    chassis: await chassisOf(db, row.id),
  })
}

export async function showHostLoad(db: Queries, now: Date, id: string, hours: number): Promise<HostLoadPoint[]> {
  const { id: hostId } = await getHost(db, id)
  const load = await readHostLoad(db, hostId, subtractDuration(now, `${hours}h`), now)
  return load.map(({ at, ...point }) => ({ at: at.toISOString(), ...point }))
}

export async function changeHostByOperator(tx: Tx, id: string, change: ChangeHost): Promise<OperatorHost> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of maintenance, overcommit, ramOvercommit and diskReserve')
  await changeHost(tx, await getHost(tx, id), change)
  return (await showHosts(tx)).find((host) => host.id === id || host.name === id)!
}

export const showRecoveries = async (db: Queries): Promise<WaitingRecovery[]> => (await listWaitingRecoveries(db)).map(toWaitingRecovery)

type Room = { used: number; total: number }
const sum = (rooms: Room[]): Room => ({
  used: rooms.reduce((total, room) => total + room.used, 0),
  total: rooms.reduce((total, room) => total + room.total, 0),
})

/** A host in maintenance has no free capacity; its reserved capacity still counts. */
export async function showCapacity(db: Queries, now: Date): Promise<RegionCapacity[]> {
  const [regions, hosts, pools] = [await listRegions(db), await listHosts(db), (await listPools(db, now)).map(toPool)]
  return regions.map(({ slug, name }) => {
    const here = hosts.filter((host) => host.region_slug === slug)
    const rooms = here.map(toCapacity)
    const addresses = pools.flatMap(({ region, free, total }) =>
      region === slug && free !== null && total !== null ? [{ used: total - free, total }] : [],
    )
    return {
      region: slug,
      name,
      hosts: here.length,
      vcpu: sum(rooms.map(({ vcpu }) => vcpu)),
      ramMiB: sum(rooms.map(({ ramMiB }) => ramMiB)),
      diskGiB: sum(rooms.map(({ diskGiB }) => diskGiB)),
      addresses: sum(addresses),
    }
  })
}

export const showPools = async (db: Queries, now: Date): Promise<Pool[]> => (await listPools(db, now)).map(toPool)

export async function createPool(tx: Tx, now: Date, { region, host, cidr, gateway, dns }: CreatePool): Promise<Pool> {
  const hostId = host ? (await getHost(tx, host)).id : null
  const id = await addPool(tx, now, { regionId: (await getRegion(tx, region)).id, hostId, cidr, gateway, dns })
  return (await showPools(tx, now)).find((pool) => pool.id === id)!
}

export async function changeRegionByOperator(tx: Tx, id: string, change: ChangeRegion): Promise<Region> {
  if (Object.keys(change).length === 0) throw invalid('say what to change')
  return changeRegion(tx, id, change)
}

/** `berthd`: how it is called here. */
export const showTemplates = async (db: Queries, berthd: string): Promise<OperatorTemplate[]> =>
  (await listTemplateRows(db)).map((row) => toTemplate(row, berthd))

export async function createPlanByOperator(tx: Tx, now: Date, currency: string, input: CreatePlan): Promise<Plan> {
  const { slug, name, vcpu, ram, disk, bandwidth, networkSpeed, throttleMbps = 10, price, available = true, regions = null } = input
  const storage = input.storage ?? 'LOCAL'
  const limits = { diskIops: input.diskIops ?? null, diskMiBPerSecond: input.diskMiBPerSecond ?? null }
  const cpus = { dedicatedCpu: input.dedicatedCpu ?? false, traits: input.traits ?? [] }
  const size = { vcpu, ram_mib: ram, disk_gib: disk, bandwidth_gb: bandwidth, network_mbps: networkSpeed, throttleMbps }
  const { id } = await createPlan(tx, now, { slug, name, ...size, storage, ...limits, ...cpus, price, available, regions })
  return planById(tx, currency, id)
}

export async function changePlanByOperator(tx: Tx, currency: string, id: string, change: ChangePlan): Promise<Plan> {
  if (Object.keys(change).length === 0) throw invalid('say what to change')
  return planById(tx, currency, (await changePlan(tx, id, change)).id)
}

const planById = async (tx: Tx, currency: string, id: string): Promise<Plan> =>
  (await listPlans(tx, currency)).find((plan) => plan.id === id)!
