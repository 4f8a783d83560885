import { nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const ACTION_STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const

const ActionStatus = oneOf([...ACTION_STATUSES])

const ActionStep = object({
  name: Type.String(),
  status: oneOf(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNDONE']),
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
})

const INITIALIZATION_STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNSUPPORTED', 'UNKNOWN'] as const

const initializationFields = {
  status: Type.Enum([...INITIALIZATION_STATUSES], {
    description:
      'What came of userData. PENDING: the guest has not said anything yet. UNSUPPORTED: the image has no cloud-init, or no guest agent to ask. UNKNOWN: the guest did not say within 24 hours',
  }),
  seconds: nullable(
    Type.Integer({ description: 'From the start of cloud-init to its end; null before, and where the guest does not say' }),
  ),
  errors: Type.Array(Type.String(), { description: 'What went wrong, as the guest says: at most 10' }),
}

export const Initialization = object(initializationFields, { title: 'Initialization', description: 'Of a VM with userData' })
export type Initialization = Static<typeof Initialization>

const ActionInitialization = object(
  {
    ...initializationFields,
    output: nullable(
      Type.String({ description: 'The last lines that cloud-init has written, at most 4,096 characters; null until it has ended' }),
    ),
  },
  { title: 'ActionInitialization' },
)
export type ActionInitialization = Static<typeof ActionInitialization>

/** While the guest has not said anything yet. */
export const PENDING_INITIALIZATION: ActionInitialization = { status: 'PENDING', seconds: null, errors: [], output: null }

/** `workflow_runs.follow_up`. */
export interface FollowUp {
  initialization?: ActionInitialization
}

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
    initialization: nullable(ActionInitialization),
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
