import { describeIso } from './iso-cases.ts'

describeIso('REPLICATED')
