// What Berth remembers of this host, so that a reboot or a second run comes to the same result.
import { memoryFile, memoryOf, loadHostState } from './plan.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { writeFileAtomic } from './shell.ts'

export const memory: Step = {
  name: 'memory',
  async check(plan) {
    const known = JSON.stringify(await loadHostState())
    return known === JSON.stringify(memoryOf(plan)) ? satisfied(`settings in ${memoryFile}`) : missing(`the settings in ${memoryFile}`)
  },
  apply: (plan) => writeFileAtomic(memoryFile, `${JSON.stringify(memoryOf(plan))}\n`),
}
