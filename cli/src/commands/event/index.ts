import { group } from '../../command.ts'
import { list } from './list.ts'
import { tail } from './tail.ts'

export const event = group('event', 'what has happened', [tail, list])
