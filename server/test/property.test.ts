import { describeProperty } from './property.ts'

describeProperty({ seeds: 5, operations: 25 })
