// All commands in help order.
import type { CommandNode } from '../command.ts'
import { account } from './account.ts'
import { action } from './action.ts'
import { address } from './address.ts'
import { alert } from './alert.ts'
import { api } from './api.ts'
import { context, login } from './auth.ts'
import { backup } from './backup.ts'
import { bandwidth } from './bandwidth.ts'
import { os, plan, region } from './catalog.ts'
import { completion } from './completion.ts'
import { event } from './event.ts'
import { firewall } from './firewall.ts'
import { image } from './image.ts'
import { invoice } from './invoice.ts'
import { announcement } from './announcement.ts'
import { maintenance } from './maintenance.ts'
import { label } from './label.ts'
import { invitation, member } from './member.ts'
import { network } from './network.ts'
import { placementGroup } from './placement-group.ts'
import { project } from './project.ts'
import { search } from './search.ts'
import { snapshot } from './snapshot.ts'
import { key } from './ssh-key.ts'
import { ticket } from './ticket.ts'
import { token } from './token.ts'
import { vm } from './vm.ts'
import { volume } from './volume.ts'
import { wallet } from './wallet.ts'
import { webhook } from './webhook.ts'

const resources = [vm, snapshot, backup, image, network, address, volume, firewall, key, placementGroup, label]
const catalog = [search, region, plan, os]
const billing = [wallet, invoice, bandwidth]
const accountAndEvents = [event, alert, webhook, action, announcement, maintenance, account, project, member, invitation, token, ticket]
const local = [login, context, completion, api]

export const COMMAND_TREE: CommandNode[] = [...resources, ...catalog, ...billing, ...accountAndEvents, ...local]
