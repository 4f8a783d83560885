// A step that never ends on its first attempt, and immediately on the second.
import { workflow } from '../src/features/deps.ts'
import { sleep } from '../src/kernel/clock.ts'

export const slowWorkflow = workflow<{ name: string }>('test.slow', { deadline: '10m' }).step('wait', {
  timeout: '5m',
  run: async ({ tries, deps }) => {
    deps.log.info({ pid: process.pid, tries }, 'begun')
    if (tries === 1) await sleep(300_000)
  },
})
