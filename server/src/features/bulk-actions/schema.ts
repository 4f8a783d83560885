import { Id, nameText, nullable, object, Type, type Static } from '../../http/api/schema.ts'
import { LabelSelector } from '../labels/schema.ts'
import { ShownBalance } from '../wallet/schema.ts'

/** They are all locked until the last is done, and each takes some milliseconds. */
export const MAX_VMS = 100

const BULK_ACTIONS = ['START', 'STOP', 'RESTART', 'DELETE', 'SNAPSHOT'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

export const StartBulkAction = object(
  {
    labelSelector: Type.Optional(
      Type.String({
        ...LabelSelector,
        description: `The VMs, at most ${MAX_VMS}: as in the list of VMs, such as \`env=test,!keep\`. Either this or vmIds is required`,
      }),
    ),
    vmIds: Type.Optional(
      Type.Array(Id, {
        minItems: 1,
        maxItems: MAX_VMS,
        uniqueItems: true,
        description: 'The VMs by their ids instead of labelSelector. One that is not there is refused as the others that cannot',
      }),
    ),
    action: Type.Enum([...BULK_ACTIONS], {
      description:
        'As for a single VM, with its scope: vms:power for START, STOP and RESTART, vms:delete for DELETE, snapshots:create for SNAPSHOT',
    }),
    force: Type.Optional(Type.Boolean({ description: 'Of STOP and RESTART: cut them off at once instead of asking the guests first' })),
    name: Type.Optional({ ...nameText(1, 100), description: 'Of the snapshots; required for SNAPSHOT' }),
  },
  { title: 'StartBulkAction' },
)
export type StartBulkAction = Static<typeof StartBulkAction>

const vmFields = {
  vmId: Type.String(),
  vmName: Type.String({ description: 'Empty where there is no such VM' }),
  errorCode: nullable(Type.String({ description: 'Null where nothing stands against it' })),
  error: nullable(Type.String({ description: 'Why this VM was refused; the others were not' })),
}

export const BulkActionStarted = object(
  {
    vms: Type.Array(object({ ...vmFields, actionId: nullable(Type.String({ description: 'Null of a VM that was refused' })) }), {
      description: 'Each that was selected, by name',
    }),
    started: Type.Integer(),
    refused: Type.Integer(),
  },
  { title: 'BulkActionStarted' },
)
export type BulkActionStarted = Static<typeof BulkActionStarted>

export const BulkActionQuote = object(
  {
    vms: Type.Array(
      object({
        ...vmFields,
        charge: nullable(Type.String({ description: 'Of this VM; negative: given back. Null where it would be refused' })),
      }),
      { description: 'Each that was selected, by name' },
    ),
    started: Type.Integer({ description: 'How many would be' }),
    refused: Type.Integer({ description: 'How many would be' }),
    charge: Type.String({ description: 'Of all together; negative: given back' }),
    currency: Type.String(),
    balanceAfter: ShownBalance,
  },
  { title: 'BulkActionQuote' },
)
export type BulkActionQuote = Static<typeof BulkActionQuote>
