// Example webhook payloads.
const at = '2027-03-01T09:30:00.000Z'

const vm = {
  id: 'cmb3v8k2p0001examplevm001',
  name: 'web-1',
  hostname: 'web-1',
  status: 'RUNNING',
  vcpu: 2,
  ram: 4096,
  disk: 40,
  ipAddress: '198.18.0.10',
  region: { slug: 'local', name: 'Local' },
  plan: { slug: 'medium', name: 'Medium', priceMonthly: '12.00' },
  billing: { nextRenewalAt: '2027-04-01T09:30:00.000Z', status: 'ACTIVE', priceMonthly: '12.00' },
  createdAt: at,
}
const wallet = { balance: '42.00', currency: 'USD', dueNext7Days: '12.00', daysLeft: 105 }
const transaction = { id: 'cmb3v8k2p0002exampletx001', type: 'DEPOSIT', amount: '25.00', balanceAfter: '42.00', createdAt: at }
const ticket = { id: 'cmb3v8k2p0003exampletk001', subject: 'A question', status: 'ANSWERED' }
const reply = { id: 'cmb3v8k2p0004examplerp001', author: 'staff', body: 'Here is the answer.', createdAt: at }

function dataOf(type: string): object {
  if (type === 'billing.payment_received') return { transaction, wallet }
  if (type === 'billing.low_balance') return { wallet }
  if (type === 'ticket.reply') return { ticket, reply }
  return { vm, actionId: 'cmb3v8k2p0005exampleac001', reason: null, sequence: 4 }
}

export const examplePayload = (type: string): object => ({ id: 'cmb3v8k2p0000exampleev001', type, timestamp: at, data: dataOf(type) })
