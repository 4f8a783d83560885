import { test } from 'vitest'
import { provesCheapMetering } from '../../../test/metering-size.ts'

test('metering costs two statements per thousand VMs', () => provesCheapMetering(2_500))
