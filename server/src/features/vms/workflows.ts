import { provision } from './create.workflow.ts'
import { deleteVm } from './delete.ts'
import { attachNetwork, detachNetwork } from './networks.ts'
import { restartVm, setPassword, startVm, stopVm, suspendVm, unsuspendVm } from './power.workflow.ts'
import { putRightVm } from './put-right.workflow.ts'
import { rebuildVm } from './rebuild.workflow.ts'
import { upgradeVm } from './upgrade.workflow.ts'

export const vmWorkflows = [
  provision,
  startVm,
  stopVm,
  restartVm,
  setPassword,
  suspendVm,
  unsuspendVm,
  upgradeVm,
  rebuildVm,
  putRightVm,
  deleteVm,
  attachNetwork,
  detachNetwork,
]
