import { defineCommand, group } from '../command.ts'

const attach = defineCommand<{ restart?: true }>({
  name: 'attach',
  description: 'put an ISO image into the CD drive of a VM, which starts from it first until it is detached',
  args: '<vm> <iso>',
  options: [['--restart', 'restart a running VM, so that it starts from it now; default: at its next start or restart']],
  example: 'vm iso attach web-1 netinst --restart',
  waits: true,
  asks: true,
  async run(ctx, { restart }, vm: string, image: string) {
    const imageId = await ctx.resolveId('iso', image)
    if (restart) await ctx.ask(() => `Restarting ${vm} from ${image} ends its programs and connections.`)
    const body = { imageId, ...(restart && { restart: true }) }
    return ctx.changeVm(vm, `attaching ${image} to`, (berth, id) => berth.vms.attachIso(id, body))
  },
})

const detach = defineCommand({
  name: 'detach',
  description: 'take the ISO image out of the CD drive of a VM, at once',
  args: '<vm>',
  example: 'vm iso detach web-1',
  waits: true,
  run: (ctx, _, vm: string) => ctx.changeVm(vm, 'detaching the ISO image of', (berth, id) => berth.vms.detachIso(id)),
})

export const vmIso = group('iso', 'ISO images in the CD drives of VMs', [attach, detach])
