import { describeProperty } from './property.ts'

describeProperty({ seeds: 15, operations: 25 })
