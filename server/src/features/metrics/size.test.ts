import { test } from 'vitest'
import { provesCheapMetrics } from '../../../test/metrics-size.ts'

test('a minute of 10,000 VMs costs a statement for each thousand of them', () => provesCheapMetrics(10_000))
