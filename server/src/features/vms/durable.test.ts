import { describeDurability, describeMigrationDurability } from './durable-cases.ts'

describeDurability({ thorough: false, sample: true })
describeMigrationDurability({ thorough: false, sample: true })
