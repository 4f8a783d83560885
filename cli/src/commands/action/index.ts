import { group } from '../../command.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { wait } from './wait.ts'

export const action = group('action', 'work on your VMs', [list, get, wait])
