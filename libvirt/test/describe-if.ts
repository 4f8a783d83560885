// Suites that need what not every machine has. ops/skip-reporter.ts prints what was skipped and why, and fails the run in CI.
import { describe, expect, test, type TestOptions } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    skipReason?: string
  }
}

type Body = () => void | Promise<void>

/** `describe`, or a skipped suite with `missing` as its reason. The body is not called then: many start servers while tests are collected. */
export const describeIf =
  (missing: string | undefined) =>
  (name: string, ...args: [Body] | [TestOptions, Body]): void => {
    if (missing !== undefined) describe.skip(name, { meta: { skipReason: missing } }, () => test('all tests', () => expect.unreachable()))
    else if (args.length === 2) describe(name, ...args)
    else describe(name, ...args)
  }
