import { group } from '../../command.ts'
import { rule } from '../firewall-rule/index.ts'
import { bind } from './bind.ts'
import { binding } from './binding.ts'
import { bindings } from './bindings.ts'
import { check } from './check.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { unbind } from './unbind.ts'
import { update } from './update.ts'

const changes = [create, update, remove, rule]
const guarding = [bind, unbind, bindings, binding, check]

export const firewall = group('firewall', 'what may reach your VMs', [list, get, ...changes, ...guarding])
