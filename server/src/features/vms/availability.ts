// What can be had where. It is worked out at most once in a few seconds, however often it is asked for, and is the same for everybody.
import type { Clock } from '../../kernel/clock.ts'
import type { Db } from '../../kernel/database/db.ts'
import { ARCHITECTURES, type Arch } from '../../kernel/arch.ts'
import { listPlanRows, listRegionRows } from '../catalog/service.ts'
import { planShape, type PricedSize } from './billing/pricing.ts'
import { findObstacle, needOf, readRegionState, type RegionState } from './actions/room.ts'
import type { Availability, AvailabilityQuery } from './schema.ts'

const FRESH_MS = 5_000

/** Answers from one look for all who ask meanwhile. One that fails is not kept. */
export function availabilityReader({ db, clock }: { db: Db; clock: Clock }): (query: AvailabilityQuery) => Promise<Availability[]> {
  let latest: { at: number; rows: Promise<Availability[]> } | undefined
  const read = (): Promise<Availability[]> => {
    const at = clock.now().getTime()
    if (latest && Math.abs(at - latest.at) < FRESH_MS) return latest.rows
    const look = { at, rows: readAvailability(db, clock.now()) }
    look.rows.catch(() => latest === look && (latest = undefined))
    latest = look
    return look.rows
  }
  return async ({ region, plan, architecture }) =>
    (await read()).filter(
      (row) =>
        (region === undefined || region === row.region.id || region === row.region.slug) &&
        (plan === undefined || plan === row.plan.id || plan === row.plan.slug) &&
        (architecture === undefined || architecture === row.architecture),
    )
}

async function readAvailability(db: Db, now: Date): Promise<Availability[]> {
  const [regions, plans] = await Promise.all([listRegionRows(db), listPlanRows(db)])
  const shapes = plans.map(planShape)
  const rows: Availability[] = []
  for (const region of regions) {
    const state = await readRegionState(db, now, region)
    for (const shape of shapes)
      for (const arch of ARCHITECTURES) {
        const refusal = refusalOf(state, shape, arch)
        rows.push({
          region: { id: region.id, slug: region.slug },
          plan: { id: shape.planId!, slug: shape.name },
          architecture: arch,
          available: refusal === null,
          code: refusal?.code ?? null,
          reason: refusal?.reason ?? null,
        })
      }
  }
  return rows
}

type Refusal = { code: NonNullable<Availability['code']>; reason: string }

function refusalOf(state: RegionState, shape: PricedSize, arch: Arch): Refusal | null {
  const where = { arch, traits: shape.traits, network10g: false, boughtMbps: 0, publicIpv4: true }
  const { slug } = state.region
  switch (findObstacle(state, shape, where)) {
    case null:
      return null
    case 'region_closed':
      return { code: 'region_closed', reason: `Region ${slug} takes no new VMs at the moment` }
    case 'not_offered':
      return { code: 'plan_not_offered', reason: `Plan ${shape.name} is not offered in ${slug}` }
    case 'full':
      return { code: 'full', reason: `There is no room for plan ${shape.name} in ${slug} at the moment` }
    case 'no_address':
      return { code: 'no_address', reason: `No public IPv4 address is free in ${slug} at the moment` }
    case 'never':
      return String(state.room.neverThere(needOf(shape, where))) === 'architecture'
        ? { code: 'architecture_not_offered', reason: `No host of ${slug} runs VMs of ${arch}` }
        : { code: 'never', reason: `No host of ${slug} is large enough for plan ${shape.name}, or has what it needs` }
  }
}
