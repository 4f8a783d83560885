import { group } from '../../command.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { restore } from './restore.ts'

export const backup = group('backup', 'copies of a disk that outlive its host', [list, get, create, restore, remove])
