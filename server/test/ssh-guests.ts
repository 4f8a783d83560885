// Guests on a real host whom their owner reaches over ssh, and the processes that are killed under them.
import { TIMEOUT_MS, type RealProduct } from './real-product.ts'

/** By what is killed; it runs again at once. */
export const KILLS: Record<string, (product: RealProduct) => Promise<unknown>> = {
  worker: async (product) => {
    await product.processes.worker.kill('SIGKILL')
    product.processes.worker = await product.start('worker')
  },
  libvirtd: async ({ sandbox }) => {
    await sandbox.signalDaemon('KILL')
    await sandbox.startDaemon()
  },
}

export async function sshGuests<Seen extends { ipAddress: string }>({ customer, ssh }: RealProduct) {
  const { data: key } = await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
  const vm = (vmId: string) => customer.get<Seen>(`/vms/${vmId}`)
  return {
    vm,
    create: async (hostname: string) => {
      const order = { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname, sshKeyIds: [key.id] }
      const vmId = await customer.order('POST', '/vms', order)
      return { vmId, address: (await vm(vmId)).ipAddress }
    },
    /** With whatever host key it has now. */
    shell: async (address: string, command: string) => {
      await ssh.forget()
      return ssh.reached(address, command, TIMEOUT_MS)
    },
  }
}
