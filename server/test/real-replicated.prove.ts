// A VM of a replicated plan, from the order to the deletion, by the product on a real host, with its disk in a real Ceph cluster.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { guestFiles } from './real-copies.ts'
import { TIMEOUT_MS } from './real-product.ts'
import { missingForReplicatedProduct, replicatedProduct } from './replicated-product.ts'

describeIf(missingForReplicatedProduct())('a VM on Ceph', { timeout: 4 * TIMEOUT_MS }, async () => {
  const { customer, db, broken, shell, images, imagesOf, trash } = await replicatedProduct()
  await db.run(sql`update plans set storage = 'REPLICATED', disk_gib = 2 where slug = 'small'`)
  const booked = async () => (await db.one<{ gib: number }>(sql`select used_gib as gib from storage_backends`)).gib

  test('is rented, written to, grown, restored and deleted, and the pool has nothing of it', async () => {
    const order = { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname: 'safe' }
    const vmId = await customer.order('POST', '/vms', order)
    expect(await customer.get(`/vms/${vmId}`)).toMatchObject({ status: 'RUNNING', storage: 'REPLICATED', disk: 1 })
    expect([await images(), await booked()]).toEqual([expect.arrayContaining([`vm-${vmId}-1`]), 1])
    const files = guestFiles(shell, vmId)
    const kept = await files.write('what was there at the snapshot')
    await customer.order('POST', `/vms/${vmId}/snapshots`, { name: 'before' })
    const { id } = await db.one<{ id: string }>(sql`select id from snapshots where vm_id = ${vmId} and status = 'AVAILABLE'`)
    await files.remove(kept)
    const later = await files.write('what came later')
    await customer.order('POST', `/vms/${vmId}/upgrade`, { planId: await customer.plan('small') })
    expect([await files.list(), await booked()]).toEqual([[later], 3])
    expect((await shell.run(vmId, 'cat /sys/block/vda/size')).output.trim()).toBe(String(2 * 2 ** 21))
    await customer.order('POST', `/vms/${vmId}/snapshots/${id}/restore`)
    expect([await files.list(), await images()]).toEqual([[kept], expect.arrayContaining([`kept-${vmId}-1`, `vm-${vmId}-2`])])
    await customer.order('POST', `/vms/${vmId}/rebuild`, { osTemplateId: order.osTemplateId })
    expect(await files.list()).toEqual([])
    expect(await broken()).toBe('')
    await customer.order('DELETE', `/vms/${vmId}`)
    expect([await imagesOf(vmId), await trash(), await booked()]).toEqual([[], [], 0])
    expect(await broken()).toBe('')
  })
})
