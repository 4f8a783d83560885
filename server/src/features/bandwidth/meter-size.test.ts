import { test } from 'vitest'
import { provesCheapMetering } from '../../../test/metering-size.ts'

test('metering costs two statements for a thousand VMs', () => provesCheapMetering(2_500))
