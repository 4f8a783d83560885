import { describeShelvingDurability } from './shelving-cases.ts'

describeShelvingDurability({ thorough: true })
describeShelvingDurability({ thorough: true, storage: 'REPLICATED' })
