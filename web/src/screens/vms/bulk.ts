import type { Body } from '@berth/sdk'

export type BulkAction = Body<'startBulkAction'>['action']

export const BULK_ACTIONS: BulkAction[] = ['START', 'STOP', 'RESTART', 'SNAPSHOT', 'DELETE']

/** The VMs with these labels, or these. */
export type BulkTarget = { labelSelector: string } | { vmIds: string[] }
