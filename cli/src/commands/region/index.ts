import { group } from '../../command.ts'
import { list } from './list.ts'
import { nodes } from './nodes.ts'

export const region = group('region', 'where VMs run', [list, nodes])
