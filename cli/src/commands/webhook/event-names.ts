/** What webhooks are sent. The log of events holds more. */
export const EVENT_NAMES = [
  'vm.created',
  'vm.started',
  'vm.stopped',
  'vm.restarted',
  'vm.suspended',
  'vm.terminated',
  'vm.renewed',
  'billing.payment_received',
  'billing.low_balance',
  'ticket.reply',
] as const
