// Checked by tsc and never run: a line below `@ts-expect-error` that compiles is itself an error, so an event whose payload is not that of
// its type fails `npm run check`.
import type { Tx } from '../src/kernel/database/db.ts'
import type { EventDeps } from '../src/features/deps.ts'
import type { Backup } from '../src/features/backups/schema.ts'
import { recordVmEvent } from '../src/features/vms/service.ts'
import { recordEvent } from '../src/features/events/service.ts'

declare const tx: Tx
declare const deps: EventDeps
declare const backup: Backup

const wallet = { balance: '1.00', currency: 'USD' }
const accountId = 'c1'

export const recorded = [
  recordEvent(tx, deps, { accountId, type: 'billing.low_balance', data: { transaction: null, wallet, dueNext7Days: '2.00' } }),
  // @ts-expect-error a field is missing
  recordEvent(tx, deps, { accountId, type: 'billing.low_balance', data: { transaction: null, wallet } }),
  // @ts-expect-error the payload of another type
  recordEvent(tx, deps, { accountId, type: 'ticket.closed', data: { transaction: null, wallet, dueNext7Days: '2.00' } }),
  // @ts-expect-error a field that the type does not have
  recordEvent(tx, deps, { accountId, type: 'billing.low_balance', data: { transaction: null, wallet, dueNext7Days: '2.00', extra: 1 } }),
  // @ts-expect-error an unknown type
  recordEvent(tx, deps, { accountId, type: 'vm.exploded', data: {} }),
  recordVmEvent(tx, deps, 'c1', 'vm.started'),
  recordVmEvent(tx, deps, 'c1', 'backup.created', {}, { backup }),
  // @ts-expect-error the backup is missing
  recordVmEvent(tx, deps, 'c1', 'backup.created'),
  // @ts-expect-error another resource
  recordVmEvent(tx, deps, 'c1', 'backup.created', {}, { snapshot: backup }),
  // @ts-expect-error an event of something else
  recordVmEvent(tx, deps, 'c1', 'ticket.closed'),
]
