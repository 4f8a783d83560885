import { describeProperty } from './property.ts'

describeProperty({ seeds: 25, operations: 25 })
