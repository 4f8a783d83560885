// Private interfaces of an existing VM: the transaction allocates the address, the workflow makes the port and attaches the interface. Both
// concern this port alone: the state of the VM's other ports is not theirs.
import type { Principal } from '../../../http/api/principal.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import type { StepContext } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { workflow, type Deps } from '../../deps.ts'
import { allocateAddress, attachmentsOf, markGuestRoutesDue, releaseAddress, requireNetworks } from '../../networks/service.ts'
import { markPortsDirty } from '../../ports/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { getVmRow, privateNic } from '../model/machine-spec.ts'
import { controllerForVm, portSpecs, requireAttachment } from '../model/ports.ts'
import { recordStaleMachine, recordStaleNics } from '../model/stale-machines.ts'
import { startAction } from '../model/guards.ts'
import { prepareNetworks, vmAndDriver, type VmInput } from '../steps.ts'

const MAX_NETWORKS = 5
/** Longer than the driver waits for a guest to release an interface; otherwise the step would time out before it reports the reason. */
const PLUG_STEP = { timeout: '4m', waitsForGuest: true }

interface Input extends VmInput {
  networkId: string
  mac: string
}

type Context = Pick<StepContext<Deps, Input, unknown>, 'deps' | 'input' | 'signal' | 'runId'>

async function plugIn(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { vm, driver } = await vmAndDriver(context)
  const attachment = (await attachmentsOf(deps.db, vm.id)).find((each) => each.mac === input.mac)
  const [open, ...inside] = await portSpecs(deps.db, vm)
  const port = inside.find((each) => each.mac === input.mac)
  if (!attachment || !port) throw new Error(`BUG: VM ${vm.id} has no address for ${input.mac}`)
  // The limit of the public port counts what leaves the network: before anything can.
  for (const each of [port, open!]) await (await controllerForVm(deps, vm)).ensurePort(each, signal)
  await driver.ensureInterface(vm.id, privateNic(attachment), signal)
}

async function unplug(context: Context): Promise<void> {
  const { deps, input, signal } = context
  const { vm, driver } = await vmAndDriver(context)
  await driver.ensureNoInterface(vm.id, input.mac, signal)
  await (await controllerForVm(deps, vm)).ensureNoPort(input.mac, signal)
}

const toldOf = ({ networkId }: Input) => ({ network: { id: networkId } })

export const attachNetwork = workflow<Input>('vm.network_attach', { deadline: '6m' })
  .step('network', { run: prepareNetworks })
  .step('attach', { ...PLUG_STEP, run: plugIn, undo: unplug })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    // A route to it may have been made or deleted after the port was read, and the limit of the public port counts the network.
    await markPortsDirty(tx, [input.vmId])
    await markGuestRoutesDue(tx, now, input.vmId)
    await recordVmEvent(tx, deps, input.vmId, 'vm.network_attached', { actionId: runId }, toldOf(input))
  })
  .onFailure(async (tx, { input: { vmId, networkId, mac }, cleanupFailed }) => {
    if (cleanupFailed) await recordStaleNics(tx, vmId, (await getVmRow(tx, vmId)).host_id!, [{ mac }])
    await releaseAddress(tx, networkId, vmId)
  })

export const detachNetwork = workflow<Input>('vm.network_detach', { deadline: '6m' })
  .step('detach', { ...PLUG_STEP, run: unplug, undo: plugIn })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    await releaseAddress(tx, input.networkId, input.vmId)
    // The limit of the public port counts the network no longer.
    await markPortsDirty(tx, [input.vmId])
    // Another network may lead to what this one led to.
    await markGuestRoutesDue(tx, now, input.vmId)
    await recordVmEvent(tx, deps, input.vmId, 'vm.network_detached', { actionId: runId }, toldOf(input))
  })
  .onFailure(async (tx, { input: { vmId }, cleanupFailed, now }) => {
    if (cleanupFailed) await recordStaleMachine(tx, now, vmId, (await getVmRow(tx, vmId)).host_id!)
    await markGuestRoutesDue(tx, now, vmId) // those of the interface may be lost
  })

export const attach = (tx: Tx, deps: Deps, who: Principal, vmId: string, networkId: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'attach',
    label: 'NETWORK_ATTACH',
    find: async () => (await requireNetworks(tx, who.accountId, [networkId]))[0]!,
    act: async (vm, start, network) => {
      const attachments = await attachmentsOf(tx, vmId)
      if (attachments.some((each) => each.network_id === networkId))
        throw apiError('already_exists', `VM is in network ${network.name} already`)
      if (network.region_id !== vm.region_id) throw apiError('region_mismatch', `Network ${network.name} is in another region than this VM`)
      if (attachments.length >= MAX_NETWORKS)
        throw apiError('quota_exceeded', `A VM can be in at most ${MAX_NETWORKS} private networks: detach one first`)
      const { mac } = await allocateAddress(tx, network, vmId)
      return start(attachNetwork, { vmId, networkId, mac })
    },
  })

export const detach = (tx: Tx, deps: Deps, who: Principal, vmId: string, networkId: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'detach',
    label: 'NETWORK_DETACH',
    find: (vm) => requireAttachment(tx, vm, networkId),
    act: (_, start, { mac }) => start(detachNetwork, { vmId, networkId, mac }),
  })
