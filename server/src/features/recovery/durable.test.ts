import { describeLostHostDurability } from './durable-cases.ts'

describeLostHostDurability({ thorough: false })
