import { group } from '../../command.ts'
import { list } from './list.ts'

export const plan = group('plan', 'sizes and prices', [list])
