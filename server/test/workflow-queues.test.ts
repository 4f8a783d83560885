// Which workflows have the places of all other actions in a worker.
import { expect, test } from 'vitest'
import { workflows } from '../src/features/index.ts'
import { parseDurationMs } from '../src/kernel/clock.ts'

const takesAnHour = ({ timeout }: { timeout: string }): boolean => parseDurationMs(timeout) >= parseDurationMs('1h')

test('no workflow that copies whole disks has the places of other actions', () => {
  const slow = workflows.filter(({ queue, steps }) => queue === 'actions' && steps.some(takesAnHour))
  // They lay a disk on its template, which is there but for the first VM of it on a host.
  expect(slow.map(({ name }) => name)).toEqual(['vm.provision', 'vm.rebuild'])
})
