// The kernel counts how long vCPUs wait for CPUs only when it is told to: what metrics show as stolen.
import { access, constants } from 'node:fs/promises'
import { missing, satisfied, type Step } from './setup-step.ts'
import { readFileOrNull, run } from './shell.ts'

const SWITCH = '/proc/sys/kernel/sched_schedstats'

/** Where this cannot be switched on, as in a container, metrics say nothing of it. */
export const waitingTimes: Step = {
  name: 'waiting-times',
  async check() {
    if ((await readFileOrNull(SWITCH))?.trim() === '1') return satisfied('the kernel counts how long guests wait for CPUs')
    const canSwitch = await access(SWITCH, constants.W_OK).then(
      () => true,
      () => false,
    )
    return canSwitch ? missing('kernel/sched_schedstats must be 1') : satisfied('the kernel does not count how long guests wait for CPUs')
  },
  apply: async () => void (await run('sh', '-ec', waitingTimesCommands)),
}

export const waitingTimesCommands = `
[ ! -w ${SWITCH} ] || echo 1 > ${SWITCH}
`
