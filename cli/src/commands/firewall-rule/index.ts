import { group } from '../../command.ts'
import { add } from './add.ts'
import { remove } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { replace } from './replace.ts'
import { update } from './update.ts'

export const rule = group('rule', 'the rules of a firewall, tried in their order', [list, get, add, update, replace, remove])
