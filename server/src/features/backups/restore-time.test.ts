import { expect, test } from 'vitest'
import { parseDurationMs } from '../../kernel/clock.ts'
import type { AnyWorkflow } from '../../workflow/executor.ts'
import { createBackupWorkflow } from './create.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'

const longest = ({ steps }: AnyWorkflow, name: string): number => parseDurationMs(steps.find((step) => step.name === name)!.timeout)

test('step timeouts of a restore are not below those of creating the backup, and its deadline covers all steps', () => {
  expect(longest(restoreFromBackup, 'fetch')).toBeGreaterThanOrEqual(longest(createBackupWorkflow, 'transfer'))
  expect(longest(restoreFromBackup, 'disk')).toBeGreaterThanOrEqual(longest(createBackupWorkflow, 'copy'))
  const all = restoreFromBackup.steps.filter((step) => !step.optional).map((step) => longest(restoreFromBackup, step.name))
  expect(restoreFromBackup.deadlineMs).toBeGreaterThanOrEqual(all.reduce((sum, ms) => sum + ms))
})
