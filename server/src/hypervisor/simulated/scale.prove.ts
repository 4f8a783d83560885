import { test } from 'vitest'
import { provesFlat } from './scale.ts'

test('a host with 100,000 VMs is as quick as one with 100', () => provesFlat(100_000))
