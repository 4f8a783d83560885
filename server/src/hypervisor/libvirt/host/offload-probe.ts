// Whether Open vSwitch forwards in the host's kernel. There guests may leave checksums and segments to their interfaces; in userspace nothing
// would complete them, and TCP fails.
import { RemoteError, type Host } from '@berth/libvirt'
import type { HostContext } from '../core/host-context.ts'

/** Probed once per connection to the host. */
export const canOffload = (context: HostContext, signal: AbortSignal): Promise<boolean> =>
  context.exclusive('can-offload', signal, async () => {
    context.cache.canOffload ??= await context.call('list network devices', signal, hasKernelDatapath)
    return context.cache.canOffload
  })

/** Each kind of datapath has a device of its own. False as well where libvirt does not list devices. */
export async function hasKernelDatapath({ devices }: Pick<Host, 'devices'>): Promise<boolean> {
  try {
    const names = (await devices.listAll({ flags: ['net'] })).map(({ name }) => name)
    const has = (device: string): boolean => names.some((name) => name.startsWith(`net_${device}_`))
    return has('ovs_system') && !has('ovs_netdev')
  } catch (error) {
    if (error instanceof RemoteError) return false
    throw error
  }
}
