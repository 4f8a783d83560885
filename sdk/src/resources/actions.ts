import type { Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Actions extends Resource {
  /** Of all VMs, the newest first. */
  list(query?: Query<'listActions'>, options?: CallOptions) {
    return this.api.pages('listActions', { query }, options)
  }

  /** Of one VM, the newest first; also of one that is gone. */
  ofVm(vmId: string, query?: Query<'listVmActions'>, options?: CallOptions) {
    return this.api.pages('listVmActions', { path: { id: vmId }, query }, options)
  }

  /** As it is now. To wait for its end, use `waitForAction`. */
  get(vmId: string, actionId: string, options?: CallOptions) {
    return this.api.call('getAction', { path: { id: vmId, actionId } }, options)
  }
}
