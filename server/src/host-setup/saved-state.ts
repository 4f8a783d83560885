// Saves the host's state, so that a reboot or a second run gives the same result.
import { hostStateFile, toHostState, loadHostState } from './plan.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { writeFileAtomic } from './shell.ts'

export const savedState: Step = {
  name: 'saved-state',
  async check(plan) {
    const known = JSON.stringify(await loadHostState())
    return known === JSON.stringify(toHostState(plan))
      ? satisfied(`settings in ${hostStateFile}`)
      : missing(`the settings in ${hostStateFile}`)
  },
  apply: (plan) => writeFileAtomic(hostStateFile, `${JSON.stringify(toHostState(plan))}\n`),
}
