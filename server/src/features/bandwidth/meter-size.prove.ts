import { test } from 'vitest'
import { provesCheapMetering } from '../../../test/metering-size.ts'

test('metering 100,000 VMs costs two statements per thousand VMs', () => provesCheapMetering(100_000))
