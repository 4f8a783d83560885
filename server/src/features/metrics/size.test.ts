import { test } from 'vitest'
import { provesCheapMetrics } from '../../../test/metrics-size.ts'

test('a minute of 10,000 VMs takes one statement per host', () => provesCheapMetrics(10_000))
