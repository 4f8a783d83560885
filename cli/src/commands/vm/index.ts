import { group } from '../../command.ts'
import { actions } from './actions.ts'
import { openSerial } from './console.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { metrics } from './metrics.ts'
import { password } from './password.ts'
import { protect, unprotect } from './protect.ts'
import { rebuild } from './rebuild.ts'
import { rename } from './rename.ts'
import { restart } from './restart.ts'
import { ssh } from './ssh.ts'
import { start } from './start.ts'
import { stop } from './stop.ts'
import { update } from './update.ts'
import { upgrade } from './upgrade.ts'

const power = [start, stop, restart]
const changes = [upgrade, rebuild, rename, protect, unprotect, update, password, remove]

export const vm = group('vm', 'virtual machines', [list, get, create, ssh, openSerial, ...power, ...changes, actions, metrics])
