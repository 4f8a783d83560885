import { describeDurability, describeMigrationDurability } from './durable-cases.ts'

describeDurability({ thorough: false })
describeMigrationDurability({ thorough: false })
