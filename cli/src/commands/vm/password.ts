import { verb } from '../../command.ts'
import { isAttended, type Io } from '../../io.ts'
import { ask, readAll } from '../../prompt.ts'
import { changeVm } from './power.ts'

export const password = verb({
  name: 'password',
  about: 'set the password of a VM; asked for on a terminal, else read from stdin',
  args: '<vm>',
  example: 'vm password web-1 < password.txt',
  waits: true,
  async run(call, _, vm: string) {
    const wanted = await newPassword(call.io)
    return changeVm(call, vm, 'setting the password of', (berth, id) => berth.vms.setPassword(id, wanted))
  },
})

/** Never an argument: those can be read by everybody on the machine, and stay in the history of the shell. */
const newPassword = (io: Io): Promise<string> =>
  isAttended(io) ? ask(io, 'New password (8 characters or more): ', { hidden: true }) : readAll(io.stdin)
