// Schemas of actions, volumes without an owner, and the health of the system.
import { Bytes, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const ACTION_STATES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const
const action = {
  id: Type.String(),
  workflow: Type.String(),
  action: Type.String(),
  status: oneOf([...ACTION_STATES]),
  isRollingBack: Type.Boolean({ description: 'It failed, and what it did is being undone' }),
  isCleanupFailed: Type.Boolean({ description: 'It failed, and something could not be undone: look at its steps' }),
  progress: Type.Integer(),
  attempt: Type.Integer(),
  accountId: nullable(Type.String()),
  email: nullable(Type.String()),
  subjectId: nullable(Type.String({ description: 'The VM' })),
  subjectName: nullable(Type.String()),
  error: nullable(Type.String()),
  errorCode: nullable(Type.String()),
  nextAttemptAt: Timestamp,
  deadlineAt: Timestamp,
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
  createdAt: Timestamp,
}
export const OperatorAction = object(action, { title: 'OperatorAction' })
export type OperatorAction = Static<typeof OperatorAction>

const OperatorStep = object({
  name: Type.String(),
  status: oneOf(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNDONE']),
  tries: Type.Integer(),
  error: nullable(Type.String({ description: 'As the host or the program said it' })),
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
})
export const OperatorActionDetails = object({ ...action, steps: Type.Array(OperatorStep) }, { title: 'OperatorActionDetails' })
export type OperatorActionDetails = Static<typeof OperatorActionDetails>

export const ActionQuery = {
  status: Type.Optional(oneOf([...ACTION_STATES])),
  account: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  vm: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  host: Type.Optional(Type.String({ maxLength: 64, description: 'Id: of the host and of the VMs that it has now' })),
  cleanupFailed: Type.Optional(Type.Boolean({ description: 'Only those that need manual cleanup' })),
}

export const Stray = object(
  {
    host: Type.String(),
    kind: Type.String({ description: 'disk, seed, snapshot, backup or template' }),
    id: Type.String(),
    vmId: nullable(Type.String()),
    generation: Type.Integer(),
    sizeBytes: Bytes,
    reason: Type.String(),
    firstSeenAt: Timestamp,
    removedAfter: Timestamp,
  },
  { title: 'Stray' },
)
export type Stray = Static<typeof Stray>

export const SystemHealth = object(
  {
    version: Type.String(),
    schema: Type.String({ description: 'The newest migration' }),
    startedAt: Timestamp,
    checks: Type.Array(object({ name: Type.String(), isOk: Type.Boolean(), message: Type.String() })),
    counts: Type.Array(object({ name: Type.String(), count: Type.Integer(), isAlert: Type.Boolean() })),
  },
  { title: 'SystemHealth' },
)
export type SystemHealth = Static<typeof SystemHealth>
