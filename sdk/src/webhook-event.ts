// Payloads of webhooks. The OpenAPI document leaves `data` open for new fields; these fields are always present.
import type { Body } from './api.ts'
import type { Ticket, TicketReply, Transaction, VmListItem, Wallet } from './generated/openapi.ts'

interface Payload<Type extends string, Data> {
  /** The id of the event, not of the delivery: the same in every subscription and in `GET /events`. */
  id: string
  type: Type
  timestamp: string
  data: Data
}

export interface VmEventData {
  /** State right after the event. */
  vm: VmListItem
  actionId: string | null
  reason: string | null
  /** Increases with every event of this VM: sort by it when deliveries arrive out of order. */
  sequence: number
}

type Balance = Pick<Wallet, 'balance' | 'currency'>

type VmEventName = 'created' | 'started' | 'stopped' | 'restarted' | 'suspended' | 'terminated' | 'renewed'

/** Discriminated by `type`. */
export type WebhookEvent =
  | Payload<`vm.${VmEventName}`, VmEventData>
  | Payload<'billing.payment_received', { transaction: Transaction; wallet: Balance }>
  | Payload<'billing.low_balance', { transaction: null; wallet: Balance; dueNext7Days: string }>
  | Payload<'ticket.reply', { ticket: Ticket; reply: TicketReply }>
  | Payload<'webhook.test', { webhookId: string }>

type Subscribable = Body<'createWebhook'>['events'][number]

/** Events that a webhook can subscribe to. `GET /events` lists more types. */
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
