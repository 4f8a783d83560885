import { group } from '../../command.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { deliveries } from './deliveries.ts'
import { delivery } from './delivery.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { listen } from './listen.ts'
import { redeliver } from './redeliver.ts'
import { rotateSecret } from './rotate-secret.ts'
import { send } from './test.ts'
import { update } from './update.ts'

const changes = [create, update, remove, rotateSecret]
const sending = [send, deliveries, delivery, redeliver]

export const webhook = group('webhook', 'programs of yours that are told of events', [listen, list, get, ...changes, ...sending])
