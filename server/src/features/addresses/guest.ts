// Tells guests of their floating addresses. The port lets a guest use an address whatever the guest does; without this, nothing in the guest
// answers at it.
import { DriverError } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Deps } from '../deps.ts'
import { getPool } from '../hosts/public-addresses.ts'
import { driverForVm, isPlaced, LOOK_AGAIN, nextTry, vmById } from '../vms/service.ts'
import { addressById, type GuestOutcome } from './sql.ts'

export async function configureGuest(deps: Deps, id: string, vmId: string, signal: AbortSignal): Promise<GuestOutcome> {
  const [row, vm] = [await addressById(deps.db, id), await vmById(deps.db, vmId)]
  if (!row || !vm || !isPlaced(vm)) return { state: 'PENDING', reason: null, dueAt: null }
  const manual: GuestOutcome = {
    state: 'MANUAL',
    reason: `${vm.template_name} has no guest agent: add ${row.address}/32 to the public interface in the guest`,
    dueAt: null,
  }
  if (!vm.has_agent) return manual
  try {
    const driver = await driverForVm(deps, vm)
    await driver.ensureGuestAddress(
      vmId,
      { mac: vm.mac!, address: row.address, gateway: (await getPool(deps.db, row.pool_id)).gateway },
      signal,
    )
    return { state: 'CONFIGURED', reason: null, dueAt: addDuration(deps.clock.now(), LOOK_AGAIN) }
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    deps.log.info({ err: error, addressId: id, vmId }, 'configuring guest address failed; will retry')
    if (error.kind === 'unsupported') return manual
    if (error.kind === 'invalid_state' || error.kind === 'not_found')
      return { state: 'PENDING', reason: 'The VM is not running: its guest gets the address when it starts', dueAt: null }
    const reason = 'The guest agent does not answer: the guest gets the address as soon as it does, at the latest when it restarts'
    return { state: 'PENDING', reason, dueAt: nextTry(deps.clock.now(), row.guest_state === 'PENDING' ? row.updated_at : null) }
  }
}

/** Best effort: the port enforces it whatever the guest does. */
export async function forgetInGuest(deps: Deps, id: string, vmId: string, signal: AbortSignal): Promise<void> {
  const [row, vm] = [await addressById(deps.db, id), await vmById(deps.db, vmId)]
  if (!row || !vm || !isPlaced(vm) || !vm.has_agent || row.vm_id === vmId) return
  const { gateway } = await getPool(deps.db, row.pool_id)
  await (await driverForVm(deps, vm)).ensureNoGuestAddress(vmId, { mac: vm.mac!, address: row.address, gateway }, signal)
}
