import { describeShelvingDurability } from './shelving-cases.ts'

describeShelvingDurability({ thorough: false })
describeShelvingDurability({ thorough: false, storage: 'REPLICATED' })
