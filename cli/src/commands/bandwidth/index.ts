import { group } from '../../command.ts'
import { buy } from './buy.ts'
import { list } from './list.ts'
import { packs } from './packs.ts'

export const bandwidth = group('bandwidth', 'traffic of your VMs', [list, packs, buy])
