import { describeDurability } from './durable-cases.ts'

describeDurability({ thorough: false })
describeDurability({ thorough: false, storage: 'REPLICATED' })
