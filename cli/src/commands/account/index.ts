import { group } from '../../command.ts'
import { audit } from './audit.ts'
import { limits } from './limits.ts'
import { show } from './show.ts'

export const account = group('account', 'your account', [show, limits, audit])
