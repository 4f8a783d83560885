// Volumes with real guests on local storage: what one guest writes another one reads, byte for byte; a worker that is killed midway changes
// nothing of that.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { eventually } from './processes.ts'
import { realGuests, type Guest } from './real-guests.ts'
import { missingForRealHost, TIMEOUT_MS } from './real-product.ts'

/** Bytes that a guest writes, at the beginning of the volume. */
const MIB = 32

describeIf(missingForRealHost())('a real volume', { timeout: 3 * TIMEOUT_MS }, async () => {
  const product = await realGuests()
  const { customer, boot, inside, broken } = product
  const { regionId } = await customer.tiny()
  const [one, other] = await Promise.all([boot('one'), boot('other')])
  const { id, devicePath } = (await customer.make('/volumes', { name: 'data', sizeGiB: 1, regionId, vmId: one.vmId })) as unknown as {
    id: string
    devicePath: string
  }
  const serial = devicePath.replace(/^.*virtio-/, '')

  interface Shown {
    status: string
    sizeGiB: number
    vmId: string | null
    currentAction: object | null
  }
  const idle = async (): Promise<Shown> => {
    let shown: Shown | undefined
    await eventually(async () => {
      shown = await customer.get<Shown>(`/volumes/${id}`)
      return shown.currentAction === null && shown.status !== 'ATTACHING' && shown.status !== 'DETACHING'
    }, TIMEOUT_MS)
    return shown!
  }
  const change = async (method: string, path: string, body?: object): Promise<Shown> => {
    const { status, error } = await customer.send(method, `/volumes/${id}${path}`, body)
    if (status !== 202 && status !== 200) throw new Error(`${status}: ${error}`)
    return idle()
  }
  /** The tiny guest has no links below /dev/disk, so it looks for the serial that they are made of. */
  const onVolume = (guest: Guest, script: string): Promise<string> =>
    inside(
      guest,
      `until for each in /sys/block/vd*; do [ "$(cat $each/serial)" = "$0" ] && found=/dev/\${each##*/}; done; [ -n "$found" ]; do sleep 1; done; ${script}`,
      serial,
    )
  const hash = (guest: Guest) => onVolume(guest, `dd if="$found" bs=1M count=${MIB} 2> /dev/null | sha256sum`)

  test('keeps every byte while it moves to another VM, grows live, and survives stop and start', async () => {
    expect(await idle()).toMatchObject({ status: 'ATTACHED', vmId: one.vmId })
    await onVolume(one, `dd if=/dev/urandom of="$found" bs=1M count=${MIB} conv=fsync 2> /dev/null`)
    const written = await hash(one)
    expect(await change('POST', '/detach')).toMatchObject({ status: 'AVAILABLE', vmId: null })
    expect(await change('POST', '/attach', { vmId: other.vmId })).toMatchObject({ status: 'ATTACHED', vmId: other.vmId })
    expect(await hash(other)).toBe(written)
    expect(await change('PATCH', '', { sizeGiB: 2 })).toMatchObject({ sizeGiB: 2 })
    expect((await onVolume(other, 'blockdev --getsize64 "$found"')).trim()).toBe(String(2 * 2 ** 30))
    await customer.order('POST', `/vms/${other.vmId}/stop`)
    await customer.order('POST', `/vms/${other.vmId}/start`)
    expect(await hash(other)).toBe(written)
    expect(await broken()).toBe('')
  })

  test('is in one state after the worker was killed while it was detached, attached and grown', async () => {
    const killed = async (method: string, path: string, body?: object): Promise<Shown> => {
      const changing = change(method, path, body)
      await product.processes.worker.kill('SIGKILL')
      product.processes.worker = await product.start('worker')
      return changing
    }
    const written = await hash(other)
    expect(await killed('POST', '/detach')).toMatchObject({ status: 'AVAILABLE', vmId: null })
    expect(await killed('POST', '/attach', { vmId: one.vmId })).toMatchObject({ status: 'ATTACHED', vmId: one.vmId })
    expect(await killed('PATCH', '', { sizeGiB: 3 })).toMatchObject({ sizeGiB: 3 })
    expect([await hash(one), (await onVolume(one, 'blockdev --getsize64 "$found"')).trim()]).toEqual([written, String(3 * 2 ** 30)])
    await customer.order('DELETE', `/vms/${one.vmId}`)
    expect(await idle()).toMatchObject({ status: 'AVAILABLE', vmId: null })
    expect((await customer.send('DELETE', `/volumes/${id}`)).status).toBe(200)
    const files = async (): Promise<string> => product.sandbox.virsh('vol-list', 'berth')
    await eventually(async () => !(await files()).includes(id), TIMEOUT_MS)
    expect(await broken()).toBe('')
  })
})
