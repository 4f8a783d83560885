import { expect, test } from 'vitest'
import { NIC_RELEASE_TIMEOUT_MS } from '../../../hypervisor/driver.ts'
import { parseDurationMs } from '../../../kernel/clock.ts'
import { attachNetwork, detachNetwork } from './attach-network.ts'

test.each([
  ['plugged in', attachNetwork, 'attach'],
  ['unplugged', detachNetwork, 'detach'],
])('the step for an interface that is %s outlasts the time a guest has to release it', (_, workflow, name) => {
  const { timeout } = workflow.steps.find((step) => step.name === name)!
  expect(parseDurationMs(timeout)).toBeGreaterThan(NIC_RELEASE_TIMEOUT_MS)
  expect(workflow.deadlineMs).toBeGreaterThan(parseDurationMs(timeout))
})
