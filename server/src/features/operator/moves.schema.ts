// Schemas of maintenances, drains and migrations.
import { nullable, object, oneOf, Timestamp, Type } from '../../http/api/schema.ts'
import { MAINTENANCE_STATES } from '../maintenances/schema.ts'

export const OperatorMaintenance = object(
  {
    id: Type.String(),
    host: Type.String(),
    state: oneOf([...MAINTENANCE_STATES]),
    startsAt: Timestamp,
    endsAt: Timestamp,
    accounts: Type.Integer({ description: 'How many were told of it' }),
    vms: Type.Integer({ description: 'On the host now' }),
    text: Type.String(),
  },
  { title: 'OperatorMaintenance' },
)

export const AnnounceMaintenance = object({
  host: Type.String({ description: 'Its id or name, which customers do not see' }),
  startsAt: Timestamp,
  endsAt: Timestamp,
  text: Type.String({ description: 'What customers read: plain text, and not the name of the host' }),
})

export const AnnouncedMaintenance = object(
  { id: Type.String(), accounts: Type.Integer({ description: 'How many were told of it' }) },
  { title: 'AnnouncedMaintenance' },
)

const ofVm = { vmId: Type.String(), name: Type.String() }

export const DrainPlan = object(
  {
    moves: Type.Array(object({ ...ofVm, to: Type.String(), bytes: Type.Number(), seconds: Type.Number(), note: nullable(Type.String()) })),
    stays: Type.Array(object({ ...ofVm, reason: Type.String(), isTemporary: Type.Boolean() })),
    seconds: Type.Number({ description: 'Of all moves' }),
    factor: Type.Number({ description: 'By which estimates are corrected, from what earlier migrations took' }),
    backups: Type.Integer({ description: 'Of VMs elsewhere, which stay on the host' }),
  },
  { title: 'DrainPlan' },
)

export const StartDrain = object({
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 16, description: 'VMs at once, 2 by default' })),
  stopOthers: Type.Optional(Type.Boolean({ description: 'VMs whose migration fails twice are stopped for it, and started again' })),
  partial: Type.Optional(Type.Boolean({ description: 'VMs that cannot move are left' })),
})

export const Drain = object(
  {
    id: Type.String(),
    status: oneOf(['RUNNING', 'COMPLETED', 'INCOMPLETE', 'CANCELLED']),
    vms: Type.Integer({ description: 'On the host at the beginning' }),
    moved: Type.Array(object({ ...ofVm, to: Type.String(), seconds: nullable(Type.Number()), restarted: Type.Boolean() })),
    moving: Type.Array(object({ ...ofVm, to: Type.String() })),
    remaining: Type.Array(object({ ...ofVm, reason: Type.String() })),
    startedAt: Timestamp,
    endedAt: nullable(Timestamp),
  },
  { title: 'Drain' },
)

export const StartMigration = object({
  to: Type.Optional(Type.String({ maxLength: 64, description: 'Id or name of a host; by default that with most room' })),
  miBPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: 'Of memory and disk; by default unlimited' })),
})
export const MigrationQuery = { to: StartMigration.properties.to }
export const MigrationPlan = object(
  { from: Type.String(), to: Type.String(), note: nullable(Type.String({ description: 'What to know of it' })) },
  { title: 'MigrationPlan' },
)
