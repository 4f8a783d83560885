import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { failure, missingForMachine, openBareMachine, type BareMachine } from '../../../test/bare-machine.ts'

const SUPERVISOR = `import('${join(import.meta.dirname, 'network-daemons.ts')}').then(({ superviseNetworkDaemons }) =>
  superviseNetworkDaemons({ log: { warn() {}, error() {} }, stack: new AsyncDisposableStack() }))`

describeIf(missingForMachine())('the daemons of OVN without systemd', { timeout: 120_000 }, () => {
  let machine: BareMachine
  beforeAll(async () => {
    machine = await openBareMachine()
    const failed = failure(await machine.prepare())
    if (failed) throw new Error(failed.message)
  }, 120_000)
  afterAll(() => machine?.close())

  const missing = async (): Promise<string[]> =>
    (await machine.prepare('--dry-run')).steps.filter(({ status }) => status === 'missing').map(({ step }) => step)

  test('are started again when they were killed', async () => {
    await machine.shell('kill -9 $(pgrep -x "ovs.*|ovn.*")')
    expect(await missing()).toEqual(['open-vswitch', 'ovn', 'connection-limits', 'uplink'])
    await machine.shell(`nohup ${process.execPath} --conditions=@berth/source -e "${SUPERVISOR}" >/dev/null 2>&1 </dev/null &`)
    await expect.poll(missing, { timeout: 60_000 }).toEqual([])
    await machine.shell('kill -9 $(cat /run/openvswitch/ovs-vswitchd.pid) $(cat /run/ovn/ovnsb_db.pid)')
    await expect.poll(missing, { timeout: 60_000 }).toEqual([])
  })
})
