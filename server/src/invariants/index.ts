import { ownershipInvariants } from './ownership.ts'
import { billingInvariants } from './billing.ts'
import { eventInvariants } from './events.ts'
import type { Invariant } from './invariant.ts'
import { invoiceInvariants } from './invoices.ts'
import { machineInvariants } from './machines.ts'
import { moneyInvariants } from './money.ts'
import { capacityInvariants } from './capacity.ts'
import { projectInvariants } from './projects.ts'
import { volumeInvariants } from './volumes.ts'
import { networkingInvariants } from './networking.ts'
import { workflowInvariants } from './workflows.ts'

export const invariants: Invariant[] = [
  ...moneyInvariants,
  ...billingInvariants,
  ...invoiceInvariants,
  ...workflowInvariants,
  ...capacityInvariants,
  ...ownershipInvariants,
  ...eventInvariants,
  ...machineInvariants,
  ...networkingInvariants,
  ...volumeInvariants,
  ...projectInvariants,
]
