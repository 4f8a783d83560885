import { verb } from '../../command.ts'
import { changeVm } from './power.ts'

export const restart = verb<{ force?: true }>({
  name: 'restart',
  about: 'restart a VM',
  args: '<vm>',
  options: [['--force', 'cut it off at once instead of asking it to shut down']],
  example: 'vm restart web-1',
  waits: true,
  run: (call, { force = false }, vm: string) => changeVm(call, vm, 'restarting', (berth, id) => berth.vms.restart(id, { force })),
})
