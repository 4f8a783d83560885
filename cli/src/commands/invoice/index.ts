import { group } from '../../command.ts'
import { get } from './get.ts'
import { list } from './list.ts'

export const invoice = group('invoice', 'one for each month', [list, get])
