import { describeProperty } from './property.ts'

describeProperty({ seeds: 50, operations: 25 })
