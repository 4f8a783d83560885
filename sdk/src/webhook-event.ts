// What webhooks carry. The OpenAPI document leaves `data` open, because it may grow; these are the fields that are always there.
import type { Body } from './api.ts'
import type { Ticket, TicketReply, Transaction, VmListItem, Wallet } from './generated/schemas.ts'

interface Delivered<Type extends string, Data> {
  /** Of the event, not of the delivery: the same in every subscription, and in `GET /events`. */
  id: string
  type: Type
  timestamp: string
  data: Data
}

export interface VmEventData {
  /** As it was right after the event. */
  vm: VmListItem
  actionId: string | null
  reason: string | null
  /** Grows with every event of this VM: of two, the one with the higher number is the later one. */
  sequence: number
}

type Balance = Pick<Wallet, 'balance' | 'currency'>

type VmEventName = 'created' | 'started' | 'stopped' | 'restarted' | 'suspended' | 'terminated' | 'renewed'

/** Distinguished by `type`. */
export type WebhookEvent =
  | Delivered<`vm.${VmEventName}`, VmEventData>
  | Delivered<'billing.payment_received', { transaction: Transaction; wallet: Balance }>
  | Delivered<'billing.low_balance', { transaction: null; wallet: Balance; dueNext7Days: string }>
  | Delivered<'ticket.reply', { ticket: Ticket; reply: TicketReply }>
  | Delivered<'webhook.test', { webhookId: string }>

type Subscribable = Body<'createWebhook'>['events'][number]

/** What a webhook can be told of. The log of events holds more. */
export const WEBHOOK_EVENTS = Object.keys({
  'vm.created': 0,
  'vm.started': 0,
  'vm.stopped': 0,
  'vm.restarted': 0,
  'vm.suspended': 0,
  'vm.terminated': 0,
  'vm.renewed': 0,
  'billing.payment_received': 0,
  'billing.low_balance': 0,
  'ticket.reply': 0,
} satisfies Record<Subscribable, 0>) as Subscribable[]
