import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Backups extends Resource {
  list(vmId: string, query?: Query<'listBackups'>, options?: CallOptions) {
    return this.api.pages('listBackups', { path: { vmId }, query }, options)
  }

  create(vmId: string, body: Body<'createBackup'>, options?: CallOptions) {
    return this.api.start(vmId, 'createBackup', { path: { vmId }, body }, options)
  }

  quoteCreate(vmId: string, body: Body<'createBackup'>, options?: CallOptions) {
    return this.api.quote('createBackup', { path: { vmId }, body }, options)
  }

  get(vmId: string, id: string, options?: CallOptions) {
    return this.api.call('getBackup', { path: { vmId, id } }, options)
  }

  update(vmId: string, id: string, body: Body<'updateBackup'>, options?: CallOptions) {
    return this.api.call('updateBackup', { path: { vmId, id }, body }, options)
  }

  /** Of the guest that it was restored into on trial: a PNG in base64. */
  screenshot(vmId: string, id: string, options?: CallOptions) {
    return this.api.call('getBackupScreenshot', { path: { vmId, id } }, options)
  }

  /** Replaces the VM's disk. Data written since the backup is lost. */
  restore(vmId: string, id: string, body?: Body<'restoreBackup'>, options?: CallOptions) {
    return this.api.start(vmId, 'restoreBackup', { path: { vmId, id }, body }, options)
  }

  delete(vmId: string, id: string, options?: CallOptions) {
    return this.api.call('deleteBackup', { path: { vmId, id } }, options)
  }
}
