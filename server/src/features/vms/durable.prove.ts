import { describeDurability, describeMigrationDurability, describeResizeElsewhereDurability } from './durable-cases.ts'

describeDurability({ thorough: true })
describeDurability({ thorough: false, storage: 'REPLICATED' })
describeMigrationDurability({ thorough: true })
describeMigrationDurability({ thorough: false, storage: 'REPLICATED' })
describeResizeElsewhereDurability({ thorough: true })
