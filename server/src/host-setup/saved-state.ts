// Saves the host's state, so that a reboot or a second run gives the same result.
import { memoryFile, memoryOf, loadHostState } from './plan.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { writeFileAtomic } from './shell.ts'

export const memory: Step = {
  name: 'saved-state',
  async check(plan) {
    const known = JSON.stringify(await loadHostState())
    return known === JSON.stringify(memoryOf(plan)) ? satisfied(`settings in ${memoryFile}`) : missing(`the settings in ${memoryFile}`)
  },
  apply: (plan) => writeFileAtomic(memoryFile, `${JSON.stringify(memoryOf(plan))}\n`),
}
