import { Bytes, nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { VmEventData } from '../vms/schema.ts'

export const BandwidthUsage = object(
  {
    vmId: Type.String(),
    vmName: Type.String(),
    status: Type.String({ description: "The VM's status" }),
    nextRenewalAt: Timestamp,
    throttled: Type.Boolean(),
    throttledAt: nullable(Timestamp),
    usedBytes: Type.Integer({ description: 'Both directions, since the billing month began' }),
    packBytes: Bytes,
    capBytes: nullable(Type.String({ description: 'Plan and packs in bytes, as a decimal string; null = unmetered' })),
  },
  { title: 'BandwidthUsage' },
)
export type BandwidthUsage = Static<typeof BandwidthUsage>

export const BuyBandwidthPack = object(
  { gigabytes: Type.Integer({ minimum: 1, maximum: 100_000, description: 'GB (10^9 bytes); they last until the next renewal' }) },
  { title: 'BuyBandwidthPack' },
)
export type BuyBandwidthPack = Static<typeof BuyBandwidthPack>

export const bandwidthEvents = {
  'bandwidth.throttled': defineEvent(VmEventData, 'The VM has used up its traffic and is slowed down', { sometimesBy: ['resizeVm'] }),
  'bandwidth.unthrottled': defineEvent(VmEventData, 'The VM has its full speed again', {
    sometimesBy: ['buyBandwidthPack', 'upgradeVm', 'resizeVm'],
  }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof bandwidthEvents> {}
}
