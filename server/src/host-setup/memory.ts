// What Berth remembers of this host, so that a reboot or a second run comes to the same result.
import { memoryFile, memoryOf, recall } from './plan.ts'
import { missing, there, type Step } from './step.ts'
import { writeWhole } from './system.ts'

export const memory: Step = {
  name: 'memory',
  async look(plan) {
    const known = JSON.stringify(await recall())
    return known === JSON.stringify(memoryOf(plan)) ? there(`settings in ${memoryFile}`) : missing(`the settings in ${memoryFile}`)
  },
  mend: (plan) => writeWhole(memoryFile, `${JSON.stringify(memoryOf(plan))}\n`),
}
