import { belongingInvariants } from './belongings.ts'
import { billingInvariants } from './billing.ts'
import { eventInvariants } from './events.ts'
import type { Invariant } from './invariant.ts'
import { invoiceInvariants } from './invoices.ts'
import { machineInvariants } from './machines.ts'
import { moneyInvariants } from './money.ts'
import { placeInvariants } from './places.ts'
import { volumeInvariants } from './volumes.ts'
import { wireInvariants } from './wires.ts'
import { workInvariants } from './work.ts'

export const invariants: Invariant[] = [
  ...moneyInvariants,
  ...billingInvariants,
  ...invoiceInvariants,
  ...workInvariants,
  ...placeInvariants,
  ...belongingInvariants,
  ...eventInvariants,
  ...machineInvariants,
  ...wireInvariants,
  ...volumeInvariants,
]
