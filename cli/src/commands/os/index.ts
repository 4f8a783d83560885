import { group } from '../../command.ts'
import { get } from './get.ts'
import { list } from './list.ts'

export const os = group('os', 'operating systems', [list, get])
