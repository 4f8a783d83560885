import { provisionVm } from './create.workflow.ts'
import { deleteVm } from './delete.ts'
import { attachNetwork, detachNetwork } from './networks.ts'
import { restartVm, setPassword, startVm, stopVm, suspendVm, unsuspendVm } from './power.workflow.ts'
import { repairVm } from './put-right.workflow.ts'
import { rebuildVm } from './rebuild.workflow.ts'
import { upgradeVm } from './upgrade.workflow.ts'

export const vmWorkflows = [
  provisionVm,
  startVm,
  stopVm,
  restartVm,
  setPassword,
  suspendVm,
  unsuspendVm,
  upgradeVm,
  rebuildVm,
  repairVm,
  deleteVm,
  attachNetwork,
  detachNetwork,
]
