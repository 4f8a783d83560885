import { object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

export const MAINTENANCE_STATES = ['SCHEDULED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED'] as const

export const Maintenance = object(
  {
    id: Type.String(),
    state: oneOf([...MAINTENANCE_STATES]),
    startsAt: Timestamp,
    endsAt: Timestamp,
    vmIds: Type.Array(Type.String(), {
      description: 'Your VMs that are on the host concerned now: one that is moved away before is not affected',
    }),
    text: Type.String({ description: 'What the operator says about it: plain text' }),
    createdAt: Timestamp,
  },
  { title: 'Maintenance' },
)
export type Maintenance = Static<typeof Maintenance>

const MaintenanceEventData = object(
  {
    maintenance: Maintenance,
    vms: Type.Optional(
      Type.Array(object({ id: Type.String(), name: Type.String() }), {
        description: 'Those of `vmIds`, by name. Absent in events of versions that did not tell it',
      }),
    ),
  },
  { title: 'MaintenanceEventData' },
)

export const maintenanceEvents = {
  'maintenance.announced': defineEvent(MaintenanceEventData, 'The operator will maintain the host of VMs of the account'),
  'maintenance.cancelled': defineEvent(MaintenanceEventData, 'A maintenance that was announced to the account does not take place'),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof maintenanceEvents> {}
}
