import type { Body, Query, Started } from '../api.ts'
import type { BulkActionQuote, BulkActionStarted, VmCreated } from '../generated/openapi.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Virtual machines. A result with an `actionId` is still in progress: pass it to `waitForAction`. */
export class Vms extends Resource {
  list(query?: Query<'listVms'>, options?: CallOptions) {
    return this.api.pages('listVms', { query }, options)
  }

  /** With `count`, `vms` and `actionIds` have all of them; with `alternatives`, `alternative` says which was placed. */
  async create(body: Body<'createVm'>, options?: CallOptions): Promise<Started<VmCreated>> {
    const created = await this.api.call('createVm', { body }, options)
    return { ...created, vmId: created.vm.id }
  }

  /** Price of the VM; throws if the request would be rejected. */
  quoteCreate(body: Body<'createVm'>, options?: CallOptions) {
    return this.api.quote('createVm', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getVm', { path: { id } }, options)
  }

  update(id: string, body: Body<'updateVm'>, options?: CallOptions) {
    return this.api.call('updateVm', { path: { id }, body }, options)
  }

  quoteUpdate(id: string, body: Body<'updateVm'>, options?: CallOptions) {
    return this.api.quote('updateVm', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.start(id, 'deleteVm', { path: { id } }, options)
  }

  /** The refund, as a negative charge. */
  quoteDelete(id: string, options?: CallOptions) {
    return this.api.quote('deleteVm', { path: { id } }, options)
  }

  start(id: string, options?: CallOptions) {
    return this.api.start(id, 'startVm', { path: { id } }, options)
  }

  stop(id: string, body?: Body<'stopVm'>, options?: CallOptions) {
    return this.api.start(id, 'stopVm', { path: { id }, body }, options)
  }

  restart(id: string, body?: Body<'restartVm'>, options?: CallOptions) {
    return this.api.start(id, 'restartVm', { path: { id }, body }, options)
  }

  /** Changes to a larger plan, given by its id, or to a custom configuration. */
  upgrade(id: string, to: string | Body<'upgradeVm'>, options?: CallOptions) {
    return this.api.start(id, 'upgradeVm', { path: { id }, body: upgradeTo(to) }, options)
  }

  quoteUpgrade(id: string, to: string | Body<'upgradeVm'>, options?: CallOptions) {
    return this.api.quote('upgradeVm', { path: { id }, body: upgradeTo(to) }, options)
  }

  /** Up or down: to a plan, a custom configuration, or a larger disk. */
  resize(id: string, to: Body<'resizeVm'>, options?: CallOptions) {
    return this.api.start(id, 'resizeVm', { path: { id }, body: to }, options)
  }

  /** The price both ways, and whether the VM restarts. */
  quoteResize(id: string, to: Body<'resizeVm'>, options?: CallOptions) {
    return this.api.quote('resizeVm', { path: { id }, body: to }, options)
  }

  /** Reinstalls from a template. All data on the disk is lost. */
  rebuild(id: string, body: Body<'rebuildVm'>, options?: CallOptions) {
    return this.api.start(id, 'rebuildVm', { path: { id }, body }, options)
  }

  /** Free, unless the VM failed during creation and was refunded: then it is charged again. */
  quoteRebuild(id: string, body: Body<'rebuildVm'>, options?: CallOptions) {
    return this.api.quote('rebuildVm', { path: { id }, body }, options)
  }

  /** Takes it off its host. Until it is unshelved it costs its disk and addresses only. */
  shelve(id: string, options?: CallOptions) {
    return this.api.start(id, 'shelveVm', { path: { id } }, options)
  }

  /** `charge` is negative: what is given back of this period. */
  quoteShelve(id: string, options?: CallOptions) {
    return this.api.quote('shelveVm', { path: { id } }, options)
  }

  unshelve(id: string, options?: CallOptions) {
    return this.api.start(id, 'unshelveVm', { path: { id } }, options)
  }

  quoteUnshelve(id: string, options?: CallOptions) {
    return this.api.quote('unshelveVm', { path: { id } }, options)
  }

  /** Restarts it into a rescue system, with its own disk attached beside that, for 24 hours at most. */
  rescue(id: string, body: Body<'rescueVm'> = {}, options?: CallOptions) {
    return this.api.start(id, 'rescueVm', { path: { id }, body }, options)
  }

  /** Restarts it from its own disk. */
  unrescue(id: string, options?: CallOptions) {
    return this.api.start(id, 'unrescueVm', { path: { id } }, options)
  }

  /** An image of kind ISO in its CD drive, which it starts from first: at once with `restart`, otherwise at its next start or restart. */
  attachIso(id: string, body: Body<'attachIso'>, options?: CallOptions) {
    return this.api.start(id, 'attachIso', { path: { id }, body }, options)
  }

  /** At once. */
  detachIso(id: string, options?: CallOptions) {
    return this.api.start(id, 'detachIso', { path: { id } }, options)
  }

  /** One action for each VM with such labels. A VM that cannot is named with the reason, and keeps no other from it. */
  async bulk(body: Body<'startBulkAction'>, options?: CallOptions): Promise<BulkActionStarted> {
    return (await this.api.call('startBulkAction', { body }, options)) as BulkActionStarted
  }

  /** Which VMs it would be, what stands against each, and what all together would cost or give back. */
  async quoteBulk(body: Body<'startBulkAction'>, options?: CallOptions): Promise<BulkActionQuote> {
    return (await this.api.call('startBulkAction', { body, query: { dryRun: true } }, options)) as BulkActionQuote
  }

  setPassword(id: string, password: string, options?: CallOptions) {
    return this.api.start(id, 'setVmPassword', { path: { id }, body: { password } }, options)
  }

  attachNetwork(id: string, networkId: string, options?: CallOptions) {
    return this.api.start(id, 'attachNetwork', { path: { id }, body: { networkId } }, options)
  }

  detachNetwork(id: string, networkId: string, options?: CallOptions) {
    return this.api.start(id, 'detachNetwork', { path: { id, networkId } }, options)
  }

  /** Whether it reaches an address or another VM, and what decides on the way. Nothing is sent. */
  checkReach(id: string, body: Body<'checkReach'>, options?: CallOptions) {
    return this.api.call('checkReach', { path: { id }, body }, options)
  }

  /** Returns a single-use WebSocket URL. Treat it as a secret. */
  openConsole(id: string, type: Body<'openConsole'>['type'], options?: CallOptions) {
    return this.api.call('openConsole', { path: { id }, body: { type } }, options)
  }

  /** CPU, memory, disk and network over time. */
  metrics(id: string, query?: Query<'getVmMetrics'>, options?: CallOptions) {
    return this.api.call('getVmMetrics', { path: { id }, query }, options)
  }

  /** CPU and traffic of at most 100 VMs over the last hours. */
  recentMetrics(ids: string[], options?: CallOptions) {
    return this.api.call('getRecentVmMetrics', { query: { vmIds: ids.join(',') } }, options)
  }
}

const upgradeTo = (to: string | Body<'upgradeVm'>): Body<'upgradeVm'> => (typeof to === 'string' ? { planId: to } : to)
