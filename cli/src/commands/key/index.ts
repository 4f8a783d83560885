import { group } from '../../command.ts'
import { add } from './add.ts'
import { remove } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { rename } from './rename.ts'

export const key = group('key', 'SSH keys that may log in to new VMs', [list, get, add, rename, remove])
