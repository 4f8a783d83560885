// Guests that release no volume while they run: the unplugging of a device needs their help.
import type { Deps } from '../src/features/deps.ts'
import { DriverError, type Driver } from '../src/hypervisor/driver.ts'

export function withStubbornGuests(deps: Deps): Deps {
  const get = async (hostId: string): Promise<Driver> => {
    const driver = await deps.hypervisors.get(hostId)
    return {
      ...driver,
      ensureVolumeDetached: async (vmId, volume, signal) => {
        if ((await driver.findMachine(vmId, signal))?.power === 'running')
          throw new DriverError('transient', 'The guest did not release it')
        await driver.ensureVolumeDetached(vmId, volume, signal)
      },
    }
  }
  return { ...deps, hypervisors: { ...deps.hypervisors, get } }
}
