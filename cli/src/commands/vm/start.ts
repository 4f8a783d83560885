import { verb } from '../../command.ts'
import { changeVm } from './power.ts'

export const start = verb({
  name: 'start',
  about: 'start a VM',
  args: '<vm>',
  example: 'vm start web-1',
  waits: true,
  run: (call, _, vm: string) => changeVm(call, vm, 'starting', (berth, id) => berth.vms.start(id)),
})
