import { group } from '../../command.ts'
import { create } from './create.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { reply } from './reply.ts'

export const ticket = group('ticket', 'questions to support', [list, get, create, reply])
