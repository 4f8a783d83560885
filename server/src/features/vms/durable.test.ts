import { describeDurability, describeMigrationDurability, describeResizeElsewhereDurability } from './durable-cases.ts'

describeDurability({ thorough: false })
describeMigrationDurability({ thorough: false })
describeResizeElsewhereDurability({ thorough: false })
