import type { Principal } from '../../http/principal.ts'
import type { Tx } from '../../kernel/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { hashPassword } from '../../kernel/password.ts'
import type { Workflow } from '../../workflow/define.ts'
import type { Deps } from '../deps.ts'
import { encryptPasswordHash } from './create.ts'
import { restartVm, setPassword, startVm, stopVm, suspendVm, unsuspendVm } from './power.workflow.ts'
import type { Verb } from './rules.ts'
import { lockIdleVm } from './gate.ts'
import type { VmDetails } from './sql.ts'

interface Started {
  actionId: string
}

/** Locks the VM, checks that it may, and starts the workflow in the same transaction. */
async function act<I extends { vmId: string }>(
  tx: Tx,
  deps: Deps,
  vm: VmDetails,
  flow: Workflow<Deps, I>,
  label: string,
  input: I,
): Promise<Started> {
  return { actionId: await deps.workflows.start(tx, flow, input, { label, ownerId: vm.account_id, subjectId: vm.id }) }
}

const idle = (tx: Tx, deps: Deps, who: Pick<Principal, 'accountId'>, vmId: string, verb: Verb): Promise<VmDetails> =>
  lockIdleVm(tx, deps, who.accountId, vmId, verb)

export const start = async (tx: Tx, deps: Deps, who: Principal, vmId: string): Promise<Started> =>
  act(tx, deps, await idle(tx, deps, who, vmId, 'start'), startVm, 'START', { vmId })

export const stop = async (tx: Tx, deps: Deps, who: Principal, vmId: string, force = false): Promise<Started> =>
  act(tx, deps, await idle(tx, deps, who, vmId, 'stop'), stopVm, 'STOP', { vmId, force })

export const restart = async (tx: Tx, deps: Deps, who: Principal, vmId: string, force = false): Promise<Started> =>
  act(tx, deps, await idle(tx, deps, who, vmId, 'restart'), restartVm, 'RESTART', { vmId, force })

/** By an operator, or because its renewal is unpaid; only the latter ends with a payment. */
export const suspend = async (tx: Tx, deps: Deps, who: Pick<Principal, 'accountId'>, vmId: string, unpaid = false): Promise<Started> =>
  act(tx, deps, await idle(tx, deps, who, vmId, 'suspend'), suspendVm, 'SUSPEND', { vmId, unpaid })

export const unsuspend = async (tx: Tx, deps: Deps, who: Pick<Principal, 'accountId'>, vmId: string): Promise<Started> =>
  act(tx, deps, await idle(tx, deps, who, vmId, 'unsuspend'), unsuspendVm, 'UNSUSPEND', { vmId })

export async function resetPassword(tx: Tx, deps: Deps, who: Principal, vmId: string, password: string): Promise<Started> {
  const vm = await idle(tx, deps, who, vmId, 'password')
  if (!vm.has_agent)
    throw apiError('incompatible', `${vm.template_name} has no guest agent: log in and change the password there, or rebuild the VM`)
  const passwordHash = encryptPasswordHash(deps, vmId, hashPassword(password))
  return act(tx, deps, vm, setPassword, 'PASSWORD_RESET', { vmId, user: vm.default_user, passwordHash })
}
