import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const rotateSecret = verb({
  name: 'rotate-secret',
  about: 'make a new secret; for a while both sign',
  args: '<webhook>',
  example: 'webhook rotate-secret https://example.com/hook',
  async run(call, _, webhook: string) {
    const changed = await call.berth.webhooks.rotateSecret(await call.id('webhook', webhook))
    return said(changed, changed.secret, `${changed.secret} is the new secret, shown this once`)
  },
})
