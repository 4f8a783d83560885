import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'

export const delivery = verb({
  name: 'delivery',
  about: 'one delivery, with what was sent and answered',
  args: '<webhook> <delivery-id>',
  example: 'webhook delivery https://example.com/hook cmh5x0a2b1c3d4e5f6g7h8i9j -o json',
  run: async (call, _, webhook: string, id: string) =>
    record(await call.berth.webhooks.delivery(await call.id('webhook', webhook), id), {
      Id: (each) => each.id,
      Event: (each) => each.type,
      Status: (each) => each.status,
      Attempts: (each) => each.log.map((attempt) => `${time(attempt.attemptedAt)} ${attempt.responseStatus ?? attempt.error}`),
      'Next attempt': (each) => time(each.nextAttemptAt),
      Body: (each) => each.requestBody,
    }),
})
