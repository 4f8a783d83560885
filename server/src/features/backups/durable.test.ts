import { describeDurability } from './durable-cases.ts'

describeDurability({ thorough: false, sample: true })
