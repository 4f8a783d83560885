// Every command, in the order of the help.
import type { Entry } from '../command.ts'
import { account } from './account/index.ts'
import { action } from './action/index.ts'
import { api } from './api.ts'
import { backup } from './backup/index.ts'
import { bandwidth } from './bandwidth/index.ts'
import { completion } from './completion.ts'
import { context } from './context/index.ts'
import { event } from './event/index.ts'
import { firewall } from './firewall/index.ts'
import { invoice } from './invoice/index.ts'
import { key } from './key/index.ts'
import { login } from './login.ts'
import { network } from './network/index.ts'
import { os } from './os/index.ts'
import { plan } from './plan/index.ts'
import { region } from './region/index.ts'
import { snapshot } from './snapshot/index.ts'
import { ticket } from './ticket/index.ts'
import { vm } from './vm/index.ts'
import { wallet } from './wallet/index.ts'
import { webhook } from './webhook/index.ts'

const things = [vm, snapshot, backup, network, firewall, key]
const catalog = [region, plan, os]
const money = [wallet, invoice, bandwidth]
const happenings = [event, webhook, action, account, ticket]
const ours = [login, context, completion, api]

export const ENTRIES: Entry[] = [...things, ...catalog, ...money, ...happenings, ...ours]
