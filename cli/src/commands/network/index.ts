import { group } from '../../command.ts'
import { attach } from './attach.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { detach } from './detach.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { rename } from './rename.ts'

export const network = group('network', 'private networks between your VMs', [list, get, create, rename, remove, attach, detach])
