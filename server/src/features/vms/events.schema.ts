// What happens to VMs, as webhooks and the event log tell it.
import { nullable, object, Type, type Static, type TProperties } from '../../http/api/schema.ts'
import { Initialization } from '../actions/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { VmListItem } from './shapes.schema.ts'

const vmEventFields = {
  vm: VmListItem,
  actionId: nullable(Type.String({ description: 'The action that caused it; null where none did' })),
  reason: nullable(Type.String({ description: 'Why, where its owner did not ask for it' })),
  sequence: Type.Integer({ description: 'Rises with every event of the VM: of two events, the one with the larger sequence is later' }),
}

/** The payload of an event of a VM that also shows another resource. */
export const vmEventDataWith = <About extends TProperties>(title: string, about: About) => object({ ...about, ...vmEventFields }, { title })

export const VmEventData = object(vmEventFields, { title: 'VmEventData' })
export type VmEventData = Static<typeof VmEventData>

const InitializationEventData = vmEventDataWith('InitializationEventData', { initialization: Initialization })

const IsoEventData = vmEventDataWith('IsoEventData', { iso: object({ imageId: Type.String(), name: Type.String() }) })

const NetworkEventData = vmEventDataWith('NetworkEventData', { network: object({ id: Type.String() }) })

export const vmEvents = {
  'vm.created': defineEvent(VmEventData, 'The VM runs for the first time', { by: ['createVm'], sometimesBy: ['rebuildVm'] }),
  'vm.started': defineEvent(VmEventData, 'The VM was started: `reason` is `host` when somebody started it on the host', {
    by: ['createVm', 'startVm', 'rebuildVm', 'restoreSnapshot', 'restoreBackup', 'unshelveVm'],
    sometimesBy: ['startBulkAction', 'rescueVm', 'unrescueVm'],
  }),
  'vm.stopped': defineEvent(
    VmEventData,
    'The VM was stopped: `reason` is `user` after stopVm, `migration` when it could not be started after a move, otherwise what was found on the host',
    {
      by: ['stopVm'],
      sometimesBy: ['startBulkAction'],
    },
  ),
  'vm.restarted': defineEvent(
    VmEventData,
    'The VM was restarted: `reason` is `host` after its host was, `migration` when it was stopped to be moved to another host, `iso` when it could not be started with an ISO image',
    { by: ['restartVm'], sometimesBy: ['startBulkAction', 'attachIso'] },
  ),
  'vm.suspended': defineEvent(VmEventData, 'The VM was switched off: `reason` is `unpaid` or `operator`'),
  'vm.terminated': defineEvent(VmEventData, 'The VM and its disk are deleted', { by: ['deleteVm'], sometimesBy: ['startBulkAction'] }),
  'vm.provisioning': defineEvent(VmEventData, 'The VM is being created', { by: ['createVm'], sometimesBy: ['rebuildVm'] }),
  'vm.error': defineEvent(VmEventData, 'The VM could not be created, and was refunded; or its host lost it', {
    sometimesBy: ['createVm', 'rebuildVm'],
  }),
  'vm.upgrading': defineEvent(VmEventData, 'The upgrade has begun', { by: ['upgradeVm'] }),
  'vm.upgraded': defineEvent(VmEventData, 'The VM runs with its new size', { by: ['upgradeVm'] }),
  'vm.upgrade_failed': defineEvent(VmEventData, 'The VM kept its size, and the upgrade was refunded', { sometimesBy: ['upgradeVm'] }),
  'vm.resizing': defineEvent(VmEventData, 'The resize has begun', { by: ['resizeVm'] }),
  'vm.resized': defineEvent(VmEventData, 'The VM has its new size; what a smaller one gives back is refunded', { by: ['resizeVm'] }),
  'vm.resize_failed': defineEvent(VmEventData, 'The VM kept its size, and what was charged was refunded', { sometimesBy: ['resizeVm'] }),
  'vm.rebuilding': defineEvent(VmEventData, 'The rebuild has begun', { by: ['rebuildVm'] }),
  'vm.rebuilt': defineEvent(VmEventData, 'The VM runs on a new disk', { by: ['rebuildVm'] }),
  'vm.rebuild_failed': defineEvent(VmEventData, 'The VM kept its old disk', { sometimesBy: ['rebuildVm'] }),
  'vm.shelved': defineEvent(VmEventData, 'The VM is on no host any more: its disk is stored, and it costs its disk and addresses only', {
    by: ['shelveVm'],
  }),
  'vm.shelve_failed': defineEvent(VmEventData, 'The VM is where it was, as it was', { sometimesBy: ['shelveVm'] }),
  'vm.unshelved': defineEvent(VmEventData, 'The VM is on a host again; it runs if it did when it was shelved', { by: ['unshelveVm'] }),
  'vm.unshelve_failed': defineEvent(VmEventData, 'The VM stayed shelved, and what unshelving cost was refunded', {
    sometimesBy: ['unshelveVm'],
  }),
  'vm.rescue_started': defineEvent(VmEventData, 'The VM runs a rescue system, and its own disk is attached beside that', {
    by: ['rescueVm'],
  }),
  'vm.rescue_failed': defineEvent(VmEventData, 'The VM is as it was: the rescue system could not be started', {
    sometimesBy: ['rescueVm'],
  }),
  'vm.rescue_expired': defineEvent(VmEventData, 'The VM has been in rescue for 24 hours, and is restarted from its own disk'),
  'vm.rescue_ended': defineEvent(
    VmEventData,
    'The VM starts from its own disk again: `reason` is `expired` after 24 hours, `operator` when the provider ended it, `host` when its host failed meanwhile',
    { by: ['unrescueVm'] },
  ),
  'vm.iso_attached': defineEvent(IsoEventData, 'The VM has an ISO image in its CD drive, or gets it at its next start or restart', {
    by: ['attachIso'],
  }),
  'vm.iso_detached': defineEvent(
    IsoEventData,
    'The VM has no ISO image any more: `reason` is `host` when its host failed, and it was started or restored elsewhere without it, `unpaid` when the image is not paid',
    { by: ['detachIso'] },
  ),
  'vm.initialized': defineEvent(InitializationEventData, 'cloud-init has ended, and what `userData` says is done', {
    sometimesBy: ['createVm', 'rebuildVm'],
  }),
  'vm.initialization_failed': defineEvent(
    InitializationEventData,
    'cloud-init has ended with errors; or the guest cannot say, or did not say within 24 hours, what came of `userData`',
    { sometimesBy: ['createVm', 'rebuildVm'] },
  ),
  'vm.network_attached': defineEvent(NetworkEventData, 'The VM has an interface in the network', { by: ['attachNetwork'] }),
  'vm.network_detached': defineEvent(NetworkEventData, 'The VM has left the network', {
    by: ['detachNetwork'],
    sometimesBy: ['restoreBackup'],
  }),
  'vm.recovered': defineEvent(
    VmEventData,
    'The host of the VM was destroyed, and the VM is on another one: `reason` says from which backup, and what was lost',
  ),
  'vm.lost': defineEvent(
    VmEventData,
    'The host of the VM was destroyed, and there was no backup: its disk is lost, unused days were refunded, and a rebuild makes it anew',
  ),
  'vm.migrated': defineEvent(VmEventData, 'The operator moved the VM to another host; it kept running, stayed off, or was restarted'),
  'vm.unsuspended': defineEvent(VmEventData, 'The suspension ended; the VM had been stopped before it, and still is'),
  'vm.unmanaged': defineEvent(VmEventData, 'The operator took the VM out of automatic management; it is not charged for'),
  'vm.adopted': defineEvent(VmEventData, 'The operator returned the VM to automatic management'),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof vmEvents> {}
}
