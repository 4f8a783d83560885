// Prints at the end of a run which tests were skipped and why. In CI a skipped test fails the run: what CI is there to test must not drop out
// unnoticed. Reasons come from describeIf (libvirt/test/describe-if.ts) and from `skip(condition, reason)` of the test context.
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

export default class SkipReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // `vitest -t` skips whatever its pattern does not match.
    if (this.#vitest?.config.testNamePattern) return
    const lines = listSkipped(modules)
    if (lines.length === 0) return
    const isCi = Boolean(process.env['CI'])
    console.log(`\n Skipped${isCi ? ', which CI does not allow' : ''}:\n${lines.map((line) => `   ${line}\n`).join('')}`)
    if (isCi) process.exitCode = 1
  }
}

export function listSkipped(modules: readonly TestModule[]): string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests('skipped')].map((test) => `${module.relativeModuleId}: ${describe(test)}`),
  )
}

function describe(test: TestCase): string {
  const result = test.result()
  const reason = test.meta().skipReason ?? (result.state === 'skipped' ? result.note : undefined) ?? 'no reason given'
  return `${test.fullName} (${reason})`
}
