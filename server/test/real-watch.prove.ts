// A real VM as seen from outside: its console, its metrics, and power changes by the guest, observed or not.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { connectTo } from './console-client.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS, realProduct } from './real-product.ts'

const PASSWORD = 'correct horse 7'

describeIf(missingForRealHost())('a real VM', { timeout: 3 * TIMEOUT_MS }, async () => {
  const product = await realProduct()
  const { customer, ssh, processes, broken } = product
  const key = await customer.send('POST', '/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
  const login = { sshKeyIds: [key.data.id], password: PASSWORD }
  const vmId = await customer.order('POST', '/vms', {
    ...(await customer.tiny()),
    planId: await customer.plan('nano'),
    ...login,
    hostname: 'seen',
  })
  const { ipAddress } = await customer.get(`/vms/${vmId}`)
  const isSeen = (status: string) => eventually(async () => (await customer.get(`/vms/${vmId}`)).status === status, TIMEOUT_MS)

  test('has a console with login, through a one-time URL', async () => {
    const { status, data } = await customer.send('POST', `/vms/${vmId}/console`, { type: 'serial' })
    expect(status).toBe(201)
    const { url } = data as unknown as { url: string }
    const terminal = connectTo(url)
    expect(await terminal.opened).toBe(true)
    const says = async (words: string, typed: string): Promise<void> => {
      await eventually(async () => terminal.text().includes(words), 30_000)
      terminal.socket.send(typed)
    }
    terminal.socket.send('\n')
    await says('seen login:', 'root\n')
    await says('Password:', `${PASSWORD}\n`)
    await says('#', 'echo $((6 * 7))-answers\n')
    await says('42-answers', 'exit\n')
    terminal.socket.close()
    expect(await connectTo(url).opened).toBe(false)
  })

  test('without a password refuses every password on its console', async () => {
    const locked = await customer.order('POST', '/vms', {
      ...(await customer.tiny()),
      planId: await customer.plan('nano'),
      hostname: 'locked',
    })
    const { data } = await customer.send('POST', `/vms/${locked}/console`, { type: 'serial' })
    const terminal = connectTo((data as unknown as { url: string }).url)
    expect(await terminal.opened).toBe(true)
    const shows = (text: RegExp) => eventually(async () => text.test(terminal.text()), 60_000)
    const answers = /Login incorrect|bad salt/g
    terminal.socket.send('\n')
    for (const [tried, user] of ['root', 'nobody'].entries()) {
      await shows(/locked login: $/)
      terminal.socket.send(`${user}\n`)
      await shows(/Password: $/)
      terminal.socket.send('guess\n')
      await eventually(async () => (terminal.text().match(answers)?.length ?? 0) > tried, 60_000)
    }
    expect(terminal.text()).not.toContain('bad salt')
    terminal.socket.close()
    await customer.order('DELETE', `/vms/${locked}`)
  })

  test('has metrics', async () => {
    const measured = await eventually(async () => {
      // Repeatedly: writes before the first sample have no rate.
      await ssh.reached(ipAddress, 'dd if=/dev/zero of=/root/much bs=1M count=64 2> /dev/null; sync; echo written')
      const { data } = await customer.send('GET', `/vms/${vmId}/metrics`)
      const { series } = data as unknown as { series: Record<string, (number | null)[]> }
      const highest = (name: string): number => Math.max(...series[name]!.map((value) => value ?? 0))
      return highest('diskWriteBytesPerSecond') > 300_000 && { cpu: highest('cpuPercent'), ram: highest('ramUsed') }
    }, TIMEOUT_MS)
    expect(measured.cpu).toBeGreaterThan(0)
    expect(measured.cpu).toBeLessThanOrEqual(100)
    expect(measured.ram).toBeGreaterThan(10)
  })

  test('that shuts itself down is STOPPED', async () => {
    await ssh.reached(ipAddress, 'poweroff; echo off')
    await isSeen('STOPPED')
    expect(await customer.get(`/vms/${vmId}`)).toMatchObject({ statusReason: 'Shut down from inside the guest' })
    await customer.order('POST', `/vms/${vmId}/start`)
  })

  test('that shuts itself down while no worker runs is STOPPED later', async () => {
    await processes.worker.kill('SIGKILL')
    await ssh.reached(ipAddress, 'poweroff; echo off')
    await eventually(async () => (await product.sandbox.virsh('list', '--name')).trim() === '', TIMEOUT_MS)
    expect((await customer.get(`/vms/${vmId}`)).status).toBe('RUNNING')
    processes.worker = await product.start('worker')
    await isSeen('STOPPED')
    expect(await broken()).toBe('')
  })
})
