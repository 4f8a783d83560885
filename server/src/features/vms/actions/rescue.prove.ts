import { describeRescue } from './rescue-cases.ts'

describeRescue('REPLICATED')
