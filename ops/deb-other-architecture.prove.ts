// The Debian package of the other architecture, on a machine of that whose programs are emulated: installed, set up, ready, and purged.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../libvirt/test/describe-if.ts'
import { missingCommands } from '../libvirt/test/command.ts'
import { nativeArch } from '../server/src/kernel/arch.ts'
import { eventually } from '../server/test/processes.ts'
import { missingForBox } from './deb/box.ts'
import { debs, debArch, version } from './deb/debs.ts'
import { emulatedMachine, type Machine } from './deb/emulated-machine.ts'

const [arch, debianName] = nativeArch() === 'x86_64' ? (['aarch64', 'arm64'] as const) : (['x86_64', 'amd64'] as const)
const missing = missingForBox() ?? missingCommands(`qemu-${arch}-static`, 'arch-test')

describeIf(missing)(`the Debian package of ${debianName}`, { timeout: 1_200_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-deb-prove-'))
  let machine: Machine
  beforeAll(async () => {
    machine = await emulatedMachine(arch, (await debs(folder))(debianName))
  }, 3_600_000)
  afterAll(async () => {
    await machine?.close()
    rmSync(folder, { recursive: true, force: true })
  }, 120_000)

  const succeed = async (command: string): Promise<string> => {
    const { code, output } = await machine.run(command)
    if (code !== 0) throw new Error(`${command} (${code}): ${output}`)
    return output
  }
  const start = (role: 'api' | 'worker') => succeed(`runuser -u berth -- berthd ${role} > /tmp/${role}.log 2>&1 &`)

  test('is installed by apt', async () => {
    expect(debianName).not.toBe(debArch)
    expect(await succeed('uname -m')).toBe(`${arch}\n`)
    expect(await succeed(`apt install ./berth_${version}_${debianName}.deb`)).toContain(
      'Berth is installed. Set it up with: sudo berthd setup',
    )
    expect(await succeed('berthd --version && berth --version')).toBe(`${version}\n${version}\n`)
  })

  test('is set up, ready, and nothing is wrong', async () => {
    await succeed('service postgresql start')
    const said = await succeed(
      'sudo berthd setup --domain cloud.example.com --tls proxy --local-database --hypervisor simulated < /dev/null',
    )
    expect(said).toContain('systemd does not run here: start berthd worker and berthd api yourself')
    await start('worker')
    await start('api')
    await eventually(async () => (await machine.run('curl --silent --fail http://127.0.0.1:8080/readyz')).code === 0, 300_000)
    expect(await succeed('sudo berthd doctor')).not.toContain('✗')
  })

  test('runs a VM', async () => {
    await succeed(
      'sudo berthd account create --email ada@example.com && sudo berthd account credit --account ada@example.com --amount 100.00',
    )
    const made = await succeed("sudo berthd token create --account ada@example.com --name first --scopes '*' --json")
    const { token } = JSON.parse(made) as { token: string }
    const berth = `BERTH_URL=http://127.0.0.1:8080 BERTH_TOKEN=${token} berth`
    expect(await succeed(`${berth} vm create web-1 --os debian-12 && ${berth} vm list`)).toMatch(/web-1 +RUNNING/)
  })

  test('is purged', async () => {
    await succeed('pkill -u berth; while pgrep -u berth; do sleep 1; done; apt purge berth')
    expect((await machine.run('id berth || ls -d /etc/berth /var/lib/berth /usr/lib/berth')).code).not.toBe(0)
  })
})
