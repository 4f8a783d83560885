// The refusal for want of room: what is missing, in words for programs too. It names no host, and no number of what is free or used.
import { ApiError } from './errors.ts'

export const MISSING = [
  'vcpu',
  'dedicated_cpu',
  'ram',
  'disk',
  'replicated_storage',
  'address',
  'ipv6_address',
  'network_speed',
  'architecture',
  'trait',
  'placement_group',
  'host',
] as const
export type Missing = (typeof MISSING)[number]

/** What can be had now instead: slugs. */
export interface Alternatives {
  regions: string[]
  /** In the region that was asked for. */
  plans: string[]
  /** The same, in the region that was asked for: false where no host there is large enough or has what it needs. */
  later: boolean
}

export const noCapacityError = (
  message: string,
  missing: Missing[],
  alternatives: Alternatives = { regions: [], plans: [], later: true },
): ApiError => new ApiError('no_capacity', message, [], null, { missing, alternatives })

export const missingIn = (error: ApiError): Missing[] => (error.details['missing'] as Missing[] | undefined) ?? []
