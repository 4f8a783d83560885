import { describeProperty } from './property.ts'

describeProperty({ seeds: 500, operations: 50 })
