// What a request for VMs leaves open: which of several regions and sizes they get, and how each of them is called.
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError, ApiError, invalid } from '../../../kernel/errors.ts'
import { missingIn, noCapacityError } from '../../../kernel/no-capacity.ts'
import { getRegion, type RegionRow } from '../../catalog/service.ts'
import { resolveSize, type PricedSize } from '../billing/pricing.ts'
import { HOSTNAME_RULE, isHostname, MAX_NAME, type CreateVm } from '../schema.ts'

/** Where the VMs are to be, and how large. */
export interface Choice {
  region: RegionRow
  shape: PricedSize
}

const isUnavailable = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 'no_capacity' || error.code === 'unavailable')

/** The first of the request and its alternatives that can be had now, as an index into the alternatives; null: the request itself. Any other refusal than want of it ends
 *  the search: whoever has too little money or quota gets nothing smaller instead. */
export async function placeFirst<Placed>(
  tx: Tx,
  asked: Choice,
  alternatives: Choice[],
  place: (choice: Choice) => Promise<Placed>,
): Promise<{ placed: Placed; alternative: number | null }> {
  if (alternatives.length === 0) return { placed: await place(asked), alternative: null }
  const refusals: ApiError[] = []
  for (const [index, choice] of [asked, ...alternatives].entries()) {
    try {
      return { placed: await tx.attempt(() => place(choice)), alternative: index === 0 ? null : index - 1 }
    } catch (error) {
      const refusal = index === 0 ? error : ofAlternative(index - 1, error)
      if (!isUnavailable(refusal)) throw refusal
      refusals.push(refusal)
    }
  }
  const message = refusals.map((refusal) => refusal.message).join('. ')
  const full = refusals.filter(({ code }) => code === 'no_capacity')
  throw full.length > 0 ? noCapacityError(message, [...new Set(full.flatMap(missingIn))]) : apiError('unavailable', message)
}

/** Says which alternative it is about. */
const ofAlternative = (index: number, error: unknown): unknown =>
  error instanceof ApiError
    ? new ApiError(error.code, `Alternative ${index + 1}: ${error.message}`, error.fields, error.retryAfterSeconds, error.details)
    : error

/** What an alternative does not name is as in the request. All are checked before the first is tried: one that could never be placed is a mistake. */
export async function alternativesOf(tx: Tx, input: CreateVm, check: (choice: Choice) => void): Promise<Choice[]> {
  const choices: Choice[] = []
  for (const [index, alternative] of (input.alternatives ?? []).entries()) {
    const { regionId = input.regionId, planId, customConfig } = alternative
    const size = planId === undefined && customConfig === undefined ? input : alternative
    try {
      if (Object.keys(alternative).length === 0) throw invalid('give a regionId, a planId or a customConfig', `alternatives.${index}`)
      const choice = { region: await getRegion(tx, regionId), shape: await resolveSize(tx, size) }
      check(choice)
      choices.push(choice)
    } catch (error) {
      throw ofAlternative(index, error)
    }
  }
  return choices
}

const NUMBER = '{n}'

/** Of the n-th of so many. */
export const numbered = (text: string, n: number, count: number): string =>
  (count > 1 && !text.includes(NUMBER) ? `${text}-${NUMBER}` : text).replaceAll(NUMBER, String(n))

/** Of each VM. With a count, `{n}` stands for 1, 2, … in hostname and name; without it the number is appended where there are several. */
export function namesOf({ hostname, name, count }: CreateVm): { hostname: string; name: string }[] {
  if (count === undefined) return [{ hostname: checkedHostname(hostname), name: name ?? hostname }]
  return Array.from({ length: count }, (_, index) => {
    const own = checkedHostname(numbered(hostname, index + 1, count))
    const shown = name === undefined ? own : numbered(name, index + 1, count)
    if (shown.length > MAX_NAME) throw invalid(`name must be 1-${MAX_NAME} characters, also with its number`, 'name')
    return { hostname: own, name: shown }
  })
}

function checkedHostname(hostname: string): string {
  if (!isHostname(hostname)) throw invalid(`hostname ${HOSTNAME_RULE}`, 'hostname')
  return hostname
}
