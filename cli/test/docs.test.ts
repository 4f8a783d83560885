import { describePages } from './docs-cases.ts'

describePages('first')
