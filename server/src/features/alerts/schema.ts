import { nameText, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, LabelSelector, ShownLabels } from '../labels/schema.ts'

/** Measured once a minute, of each VM that runs. */
export const BY_THE_MINUTE = [
  'cpuPercent',
  'ramPercent',
  'diskReadBytesPerSecond',
  'diskWriteBytesPerSecond',
  'networkInBytesPerSecond',
  'networkOutBytesPerSecond',
] as const
const METRICS = [...BY_THE_MINUTE, 'trafficPercent', 'balanceDays'] as const
export const COMPARISONS = ['ABOVE', 'BELOW'] as const

const Metric = Type.Enum([...METRICS], {
  description:
    'Of VMs: `cpuPercent` of all their vCPUs, `ramPercent` where the guest tells it, the rates of disk and network, and `trafficPercent` of what is included this month. Of the account: `balanceDays` that the balance lasts',
})
const Threshold = Type.Number({ minimum: 0, maximum: 1e15, description: 'Percent, bytes per second, or days' })
const ForMinutes = Type.Integer({
  minimum: 1,
  maximum: 60,
  description: 'How long it must be so; 5 unless given. Not for trafficPercent and balanceDays, which are so at once',
})
const VmIds = Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true })

const shown = {
  id: Type.String(),
  name: Type.String(),
  metric: oneOf([...METRICS]),
  comparison: oneOf([...COMPARISONS]),
  threshold: Type.Number(),
  forMinutes: nullable(Type.Integer()),
}

const Firing = object({
  vmId: nullable(Type.String({ description: 'Null for the account' })),
  vmName: nullable(Type.String()),
  value: Type.Number({ description: 'When it fired' }),
  firedAt: Timestamp,
})

export const Alert = object(
  {
    ...shown,
    vmIds: nullable(Type.Array(Type.String())),
    labelSelector: nullable(Type.String()),
    labels: ShownLabels,
    firing: Type.Array(Firing, { description: 'Where it is so now' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Alert' },
)
export type Alert = Static<typeof Alert>

export const CreateAlert = object(
  {
    name: nameText(1, 100),
    metric: Metric,
    comparison: Type.Enum([...COMPARISONS]),
    threshold: Threshold,
    forMinutes: Type.Optional(ForMinutes),
    vmIds: Type.Optional(VmIds),
    labelSelector: Type.Optional(LabelSelector),
    labels: Type.Optional(Labels),
  },
  { title: 'CreateAlert', description: 'Of VMs: of those in vmIds, or that labelSelector selects, or of all' },
)
export type CreateAlert = Static<typeof CreateAlert>

export const UpdateAlert = object(
  {
    name: Type.Optional(nameText(1, 100)),
    comparison: Type.Optional(Type.Enum([...COMPARISONS])),
    threshold: Type.Optional(Threshold),
    forMinutes: Type.Optional(ForMinutes),
    vmIds: Type.Optional(nullable(VmIds)),
    labelSelector: Type.Optional(nullable(LabelSelector)),
    labels: Type.Optional(Labels),
  },
  { description: 'At least one of them' },
)
export type UpdateAlert = Static<typeof UpdateAlert>

export const AlertQuery = labelQuery

export const DeletedAlert = object({ id: Type.String() })

const AlertEventData = object(
  {
    alert: object(shown),
    vm: nullable(object({ id: Type.String(), name: Type.String(), labels: ShownLabels }, { description: 'Null for the account' })),
    value: nullable(Type.Number({ description: 'On average over those minutes; null where there is none' })),
    firedAt: Timestamp,
    reason: nullable(Type.String({ description: 'Why it ended, where not by the measured value' })),
  },
  { title: 'AlertEventData' },
)
export type AlertEventData = Static<typeof AlertEventData>

export const alertEvents = {
  'alert.fired': defineEvent(
    AlertEventData,
    'What an alert is for is so; of the same VM again 10 minutes after it has ended at the earliest',
  ),
  'alert.resolved': defineEvent(AlertEventData, 'What an alert fired for has ended', { sometimesBy: ['deleteAlert'] }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof alertEvents> {}
}
