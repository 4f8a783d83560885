import { provisionVm } from './actions/create.ts'
import { deleteVm } from './actions/delete.ts'
import { attachNetwork, detachNetwork } from './actions/attach-network.ts'
import { attachIsoWorkflow, detachIsoWorkflow } from './actions/iso.ts'
import { restartVm, setPassword, startVm, stopVm, suspendVm, unsuspendShelved, unsuspendVm } from './actions/power.ts'
import { recoverVm } from './recovery/recover.ts'
import { repairVm } from './recovery/repair.ts'
import { migrateVm } from './operator/migrate.workflow.ts'
import { rebuildVm } from './actions/rebuild.ts'
import { rescueVm, unrescueVm } from './actions/rescue.ts'
import { resizeElsewhere, upgradeVm } from './actions/resize.workflow.ts'
import { shelveInPool, shelveVm } from './actions/shelve.ts'
import { unshelveInPool, unshelveVm } from './actions/unshelve.ts'

export const vmWorkflows = [
  provisionVm,
  startVm,
  stopVm,
  restartVm,
  setPassword,
  suspendVm,
  unsuspendVm,
  unsuspendShelved,
  upgradeVm,
  resizeElsewhere,
  rebuildVm,
  repairVm,
  deleteVm,
  attachNetwork,
  detachNetwork,
  migrateVm,
  recoverVm,
  shelveVm,
  shelveInPool,
  unshelveVm,
  unshelveInPool,
  rescueVm,
  unrescueVm,
  attachIsoWorkflow,
  detachIsoWorkflow,
]
