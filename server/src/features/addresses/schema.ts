import { Id, nameQuery, nameText, nullable, object, oneOf, sortQuery, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'
import { reverseFields, ReverseName } from '../reverse-names/schema.ts'

export const GUEST_STATES = ['PENDING', 'CONFIGURED', 'MANUAL'] as const

export const Address = object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    address: Type.String({ description: 'IPv4' }),
    region: object({ slug: Type.String(), name: Type.String() }),
    vmId: nullable(Type.String({ description: 'The VM that has it; null while it is unassigned' })),
    guestState: nullable(
      Type.String({
        enum: [...GUEST_STATES],
        description:
          'Whether the guest of that VM has it on its public interface: PENDING until its guest agent has done it, MANUAL for an image without agent',
      }),
    ),
    guestReason: nullable(Type.String({ description: 'Why it is not configured in the guest yet, and what to do' })),
    currentAction: nullable(object({ id: Type.String(), action: Type.String(), status: Type.String(), progress: Type.Integer() })),
    ...reverseFields,
    billing: object({
      nextRenewalAt: Timestamp,
      status: oneOf(['ACTIVE', 'PAST_DUE', 'SUSPENDED']),
      priceMonthly: Type.String({ description: 'What the next renewal will charge' }),
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Address' },
)
export type Address = Static<typeof Address>

const Name = nameText(1, 100)

export const ReserveAddress = object(
  {
    regionId: Type.String({ ...Id, description: 'The region whose VMs can have it' }),
    name: Type.Optional(Type.String({ ...Name, description: 'Left out, it is the address itself' })),
    labels: Type.Optional(Labels),
  },
  { title: 'ReserveAddress' },
)
export type ReserveAddress = Static<typeof ReserveAddress>

export const UpdateAddress = object(
  { name: Type.Optional(Name), labels: Type.Optional(Labels), reverseName: Type.Optional(ReverseName) },
  { title: 'UpdateAddress' },
)
export type UpdateAddress = Static<typeof UpdateAddress>

const ExpectedVm = nullable(
  Type.String({ ...Id, description: 'The VM that has it now, null for none. If another has it, nothing changes and the answer is 409' }),
)

export const AssignAddress = object(
  {
    vmId: Type.String({ ...Id, description: 'A VM of the same region' }),
    expectedVmId: Type.Optional(ExpectedVm),
  },
  { title: 'AssignAddress' },
)
export type AssignAddress = Static<typeof AssignAddress>

export const AddressMoving = object(
  {
    vmId: Type.String({ description: 'The VM that gets it, or loses it: its actions show this one' }),
    actionId: Type.String(),
  },
  { title: 'AddressMoving' },
)
export type AddressMoving = Static<typeof AddressMoving>

export const AddressQuery = {
  regionId: Type.Optional(Type.String({ ...Id, description: 'Only those of this region' })),
  vmId: Type.Optional(Type.String({ ...Id, description: 'Only those of this VM' })),
  ...nameQuery,
  ...labelQuery,
  ...sortQuery(['address', 'name', 'region', 'priceMonthly'], '; region by its name'),
}
export type AddressQuery = Static<ReturnType<typeof Type.Object<typeof AddressQuery>>>

export const UnassignQuery = {
  expectedVmId: Type.Optional(Type.String({ ...Id, description: 'The VM that has it now: if another has it, the answer is 409' })),
}

export const ReleasedAddress = object({ id: Type.String() }, { title: 'ReleasedAddress' })

const AddressEventData = object(
  {
    address: Address,
    actionId: nullable(Type.String()),
    reason: nullable(Type.String({ description: 'Why it happened, where that is not clear' })),
  },
  { title: 'AddressEventData' },
)

export const addressEvents = {
  'address.reserved': defineEvent(AddressEventData, 'An address was reserved', { by: ['reserveAddress'] }),
  'address.assigned': defineEvent(AddressEventData, 'An address has another VM, and its port lets it use it', { by: ['assignAddress'] }),
  'address.unassigned': defineEvent(AddressEventData, 'An address was taken from its VM; not recorded when the VM was deleted', {
    by: ['unassignAddress'],
  }),
  'address.assignment_failed': defineEvent(AddressEventData, 'An address could not be moved and was given back', {
    sometimesBy: ['assignAddress', 'unassignAddress'],
  }),
  'address.renewed': defineEvent(AddressEventData, 'The next month of the address was charged'),
  'address.past_due': defineEvent(AddressEventData, 'The wallet did not cover the renewal: the address will be unassigned, then released'),
  'address.released': defineEvent(AddressEventData, 'An address was given back, by its owner or because it was not paid', {
    by: ['releaseAddress'],
  }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof addressEvents> {}
}
