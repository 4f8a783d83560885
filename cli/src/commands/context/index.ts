import { group } from '../../command.ts'
import { remove } from './delete.ts'
import { list } from './list.ts'
import { use } from './use.ts'

export const context = group('context', 'the servers you are signed in to', [list, use, remove])
