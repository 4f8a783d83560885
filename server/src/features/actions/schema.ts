import { nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const ACTION_STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const

const ActionStatus = oneOf([...ACTION_STATUSES])

const ActionStep = object({
  name: Type.String(),
  status: oneOf(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNDONE']),
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
})

export const Action = object(
  {
    id: Type.String(),
    vmId: Type.String({
      description:
        'The VM; of an action of a floating address the one that gets it, or else loses it; empty for an image that is imported and a volume that is detached',
    }),
    addressId: nullable(Type.String({ description: 'Only of an action of a floating address' })),
    volumeId: nullable(Type.String({ description: 'Only of an action of a volume' })),
    imageId: nullable(Type.String({ description: 'Only of an action of an image' })),
    action: Type.String({ description: 'CREATE, START, STOP, RESTART, UPGRADE, REBUILD, DELETE, …' }),
    status: ActionStatus,
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    error: nullable(Type.String({ description: 'Why it failed or was cancelled' })),
    errorCode: nullable(Type.String()),
    steps: Type.Array(ActionStep),
    startedAt: nullable(Timestamp),
    completedAt: nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'Action' },
)
export type Action = Static<typeof Action>

export const ActionStarted = object({ actionId: Type.String() }, { title: 'ActionStarted' })
export type ActionStarted = Static<typeof ActionStarted>

export const StatusQuery = { status: Type.Optional(ActionStatus) }

export const WaitQuery = {
  wait: Type.Optional(Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for the end of the action before answering' })),
}
