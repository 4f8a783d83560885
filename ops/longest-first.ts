// Test files that take longest begin first, so that no core waits for the last of them. Vitest knows how long files take only where they have
// run before, which they have not in CI.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const LONGEST = [
  'server/test/real.test.ts',
  'server/test/endpoint-coverage.test.ts',
  'server/src/commands/admin/host.test.ts',
  'server/src/commands/admin/backup.test.ts',
  'server/test/upgrade.test.ts',
  'web/test/customer.test.ts',
  'server/test/statements.test.ts',
  'server/src/kernel/postgres/embedded.test.ts',
  'server/test/up.test.ts',
  'server/test/races.test.ts',
  'server/src/commands/commands.test.ts',
  'server/src/features/billing/years-model.test.ts',
]

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((path) => moduleId.endsWith(path))
      return index === -1 ? LONGEST.length : index
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
