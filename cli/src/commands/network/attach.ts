import { verb } from '../../command.ts'
import { changeVm } from '../vm/power.ts'

export const attach = verb({
  name: 'attach',
  about: 'put a VM into a network',
  args: '<network> <vm>',
  example: 'network attach backend web-1',
  waits: true,
  async run(call, _, network: string, vm: string) {
    const networkId = await call.id('network', network)
    return changeVm(call, vm, `attaching ${network} to`, (berth, id) => berth.vms.attachNetwork(id, networkId))
  },
})
