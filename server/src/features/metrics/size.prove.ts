import { test } from 'vitest'
import { provesCheapMetrics } from '../../../test/metrics-size.ts'

test('a minute of 100,000 VMs takes one statement per host', () => provesCheapMetrics(100_000))
