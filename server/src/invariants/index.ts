import { belongingInvariants } from './ownership.ts'
import { billingInvariants } from './billing.ts'
import { eventInvariants } from './events.ts'
import type { Invariant } from './invariant.ts'
import { invoiceInvariants } from './invoices.ts'
import { machineInvariants } from './machines.ts'
import { moneyInvariants } from './money.ts'
import { placeInvariants } from './capacity.ts'
import { volumeInvariants } from './volumes.ts'
import { wireInvariants } from './networking.ts'
import { workInvariants } from './workflows.ts'

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
