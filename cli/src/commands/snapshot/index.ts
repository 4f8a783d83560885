import { group } from '../../command.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { restore } from './restore.ts'

export const snapshot = group('snapshot', 'states of a disk to come back to', [list, get, create, restore, remove])
