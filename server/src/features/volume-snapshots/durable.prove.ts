import { describeDurability } from './durable-cases.ts'

describeDurability({ thorough: true })
describeDurability({ thorough: false, storage: 'REPLICATED' })
