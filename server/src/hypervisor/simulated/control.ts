// Control of a simulated host from outside, for tests and demos. Of the product only `berthd host set --simulate-loss` uses it.
import type { Clock } from '../../kernel/clock.ts'
import type { Db } from '../../kernel/database/db.ts'
import { driftControl, type DriftControl } from './drift.ts'
import { faultControl, type FaultControl } from './faults.ts'

export interface SimulatedControl {
  faults: FaultControl
  drift: DriftControl
}

export const simulatedControl = (db: Db, clock: Clock, hostId: string): SimulatedControl => ({
  faults: faultControl(db, hostId),
  drift: driftControl(db, clock, hostId),
})
