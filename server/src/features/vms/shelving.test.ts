import { describeShelvingDurability } from './shelving-cases.ts'

describeShelvingDurability({ thorough: false })
