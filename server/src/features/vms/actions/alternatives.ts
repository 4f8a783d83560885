// What can be had instead of a VM for which there is no room now. Said of it is what anybody finds out by asking: regions, plans, and whether waiting helps; nothing of hosts,
// of how much is free, or of other accounts.
import { RefusalWithAdvice } from '../../../http/api/api.ts'
import type { Queries } from '../../../kernel/database/db.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { missingIn, noCapacityError } from '../../../kernel/no-capacity.ts'
import { listPlanRows, listRegionRows, type RegionRow } from '../../catalog/service.ts'
import type { Need } from '../../hosts/service.ts'
import { planShape, type PricedSize } from '../billing/pricing.ts'
import type { Wishes } from '../model/placement.ts'
import { findObstacle, needOf, readRegionState } from './room.ts'

interface Asked {
  region: RegionRow
  shape: PricedSize
  where: Wishes
  copy: Need['copy'] | undefined
  /** Of the image or the backup. */
  minimum: { ramMiB: number; diskGiB: number }
  /** To the region, by its networks or volumes. */
  isBound: boolean
}

const MOST = 3

/** Of a refusal for want of room another one that says more; any other error as it is. */
export const withAlternatives = (now: Date, error: unknown, asked: Asked): unknown =>
  error instanceof ApiError && error.code === 'no_capacity'
    ? new RefusalWithAdvice(error, (tx) => findAlternatives(tx, now, error, asked))
    : error

async function findAlternatives(db: Queries, now: Date, error: ApiError, asked: Asked): Promise<ApiError> {
  const { region, shape, where, copy } = asked
  const regions: string[] = []
  for (const other of asked.isBound ? [] : await listRegionRows(db))
    if (other.id !== region.id && regions.length < MOST && !findObstacle(await readRegionState(db, now, other), shape, where, copy))
      regions.push(other.slug)
  const [here, plans] = [await readRegionState(db, now, region), new Array<string>()]
  for (const other of smaller(shape, asked, (await listPlanRows(db)).map(planShape)))
    if (plans.length < MOST && !findObstacle(here, other, where, copy)) plans.push(other.name)
  const later = here.room.couldTake(needOf(shape, where, copy))
  const isAdvised = regions.length + plans.length > 0 || String(missingIn(error)) === 'placement_group' // which says what to do
  const text = [
    error.message,
    regions.length > 0 ? `There is room for it in ${regions.join(', ')} now` : null,
    plans.length > 0 ? `In ${region.slug} there is room now for plan ${plans.join(', ')}` : null,
    later ? (isAdvised ? null : 'Try again later') : `No host of ${region.slug} could ever take it: waiting does not help`,
  ]
  return noCapacityError(text.filter((part) => part !== null).join('. '), missingIn(error), { regions, plans, later })
}

/** No larger in any way, so that quotas and money suffice; the nearest first. */
function smaller(shape: PricedSize, { minimum }: Asked, plans: PricedSize[]): PricedSize[] {
  const isSmaller = (plan: PricedSize): boolean =>
    plan.vcpu <= shape.vcpu && plan.ramMiB <= shape.ramMiB && plan.diskGiB <= shape.diskGiB && plan.priceCents <= shape.priceCents
  const isEnough = (plan: PricedSize): boolean => plan.ramMiB >= minimum.ramMiB && plan.diskGiB >= minimum.diskGiB
  return plans
    .filter((plan) => plan.planId !== shape.planId && isSmaller(plan) && isEnough(plan))
    .toSorted((a, b) => b.ramMiB - a.ramMiB || b.vcpu - a.vcpu || Number(b.priceCents - a.priceCents))
}
