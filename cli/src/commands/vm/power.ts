// What is common to commands that change a VM by an action: find it, start the action, wait, and say how it is then.
import type { Berth } from '@berth/sdk'
import { said, type Answer } from '../../answer.ts'
import type { Call } from '../../call.ts'

type Start = (berth: Berth, id: string) => Promise<{ vmId: string; actionId: string }>

export async function changeVm(call: Call, text: string, label: string, start: Start): Promise<Answer> {
  const id = await call.id('vm', text)
  return call.finish(await start(call.berth, id), `${label} ${text}`, async (action) => {
    const vm = await call.berth.vms.get(id)
    return said(action, vm.name, `${vm.name} is ${vm.status}`)
  })
}
