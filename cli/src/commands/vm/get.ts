import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { VM_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a VM',
  args: '<vm>',
  example: 'vm get web-1',
  run: async (call, _, vm: string) => record(await call.vm(vm), VM_FIELDS),
})
