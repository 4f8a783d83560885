import { verb } from '../../command.ts'
import { changeVm } from './power.ts'

export const stop = verb<{ force?: true }>({
  name: 'stop',
  about: 'stop a VM: it is asked to shut down, and cut off when it does not',
  args: '<vm>',
  options: [['--force', 'cut it off at once']],
  example: 'vm stop web-1',
  waits: true,
  run: (call, { force = false }, vm: string) => changeVm(call, vm, 'stopping', (berth, id) => berth.vms.stop(id, { force })),
})
