import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

const protection = (name: string, isProtected: boolean, about: string, outcome: string) =>
  verb({
    name,
    about,
    args: '<vm>',
    example: `vm ${name} web-1`,
    async run(call, _, vm: string) {
      const changed = await call.berth.vms.update(await call.id('vm', vm), { isProtected })
      return said(changed, changed.name, `${changed.name} ${outcome}`)
    },
  })

export const protect = protection('protect', true, 'refuse to delete, rebuild or restore a VM', 'is protected')
export const unprotect = protection('unprotect', false, 'allow to delete, rebuild and restore a VM again', 'is no longer protected')
