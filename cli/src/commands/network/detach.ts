import { verb } from '../../command.ts'
import { changeVm } from '../vm/power.ts'

export const detach = verb({
  name: 'detach',
  about: 'take a VM out of a network',
  args: '<network> <vm>',
  example: 'network detach backend web-1',
  waits: true,
  async run(call, _, network: string, vm: string) {
    const networkId = await call.id('network', network)
    return changeVm(call, vm, `detaching ${network} from`, (berth, id) => berth.vms.detachNetwork(id, networkId))
  },
})
