import { expect, test } from 'vitest'
import { NIC_RELEASE_TIMEOUT_MS } from '../../../hypervisor/driver.ts'
import { parseDurationMs } from '../../../kernel/clock.ts'
import { attachNetwork, detachNetwork } from './attach-network.ts'

test.each([
  ['plugged in', attachNetwork, 'attach'],
  ['unplugged', detachNetwork, 'detach'],
])('an interface that is %s is waited for longer than its guest takes to let go of it', (_, workflow, name) => {
  const { timeout } = workflow.steps.find((step) => step.name === name)!
  expect(parseDurationMs(timeout)).toBeGreaterThan(NIC_RELEASE_TIMEOUT_MS)
  expect(workflow.deadlineMs).toBeGreaterThan(parseDurationMs(timeout))
})
