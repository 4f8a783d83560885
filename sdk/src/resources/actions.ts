import type { Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Actions extends Resource {
  /** Actions of all VMs, newest first. */
  list(query?: Query<'listActions'>, options?: CallOptions) {
    return this.api.pages('listActions', { query }, options)
  }

  /** Actions of one VM, newest first; also of a deleted VM. */
  ofVm(vmId: string, query?: Query<'listVmActions'>, options?: CallOptions) {
    return this.api.pages('listVmActions', { path: { id: vmId }, query }, options)
  }

  /** Current state. To wait for the end, use `waitForAction`. */
  get(vmId: string, actionId: string, options?: CallOptions) {
    return this.api.call('getAction', { path: { id: vmId, actionId } }, options)
  }
}
