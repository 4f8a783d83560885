// The Debian package on a machine that is its own network controller and host, by the commands of docs/operate/install.md: a real guest is reached by ssh, is back
// after a reboot, runs on through an upgrade, and nothing is left after it. Everything happens in a box (deb/box.ts), which reaches nothing outside.
import { readFileSync, rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../libvirt/test/describe-if.ts'
import { eventually } from '../server/test/processes.ts'
import { tinyImage } from '../server/test/tiny-image.ts'
import { BOX_ADDRESS, createBox, missingForBox, type Box } from './deb/box.ts'
import { debArch, debs, NEXT, nextDeb, version } from './deb/debs.ts'

const LIVE_MS = 240_000

describeIf(missingForBox())('the Debian package on a host', { timeout: 1_200_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-deb-prove-'))
  let box: Box
  let image: string

  beforeAll(async () => {
    const deb = (await debs(folder))(debArch)
    const { path } = await tinyImage()
    image = basename(path)
    box = await createBox(deb, nextDeb(folder, deb, NEXT), path)
    await box.boot()
  }, 1_800_000)
  afterAll(async () => {
    await box?.close()
    rmSync(folder, { recursive: true, force: true })
  }, 120_000)

  const handbook = readFileSync(join(import.meta.dirname, '../docs/operate/install.md'), 'utf8')
  /** The commands of a section, from one to another. */
  function documented(first: string, last: string): string[] {
    const lines = handbook.split('\n')
    const from = lines.indexOf(first)
    const to = lines.indexOf(last, from)
    expect([from, to]).not.toContain(-1)
    return lines.slice(from, to + 1).map((line) => line.replaceAll('10.0.0.1', BOX_ADDRESS))
  }
  async function succeed(command: string): Promise<string> {
    const { code, output } = await box.run(command)
    if (code !== 0) throw new Error(`${command} (${code}): ${output}`)
    return output
  }
  let token: string
  const berth = (args: string): Promise<string> => succeed(`BERTH_URL=http://127.0.0.1:8080 BERTH_TOKEN=${token} berth ${args}`)
  const inGuest = (command: string): Promise<string> => berth(`vm ssh web-1 -- ${command}`)
  const guestAnswers = (): Promise<boolean> =>
    eventually(
      () =>
        inGuest('true').then(
          () => true,
          () => false,
        ),
      LIVE_MS,
    )
  const qemu = (): Promise<string> => succeed('pgrep -f guest=berth-')

  test('its commands lead to a guest that answers ssh', async () => {
    await succeed(`sudo apt install ./berth_${version}_${debArch}.deb`)
    await succeed('sudo berthd setup --domain cloud.example.com --tls proxy --local-database < /dev/null')
    const commands = documented(
      'sudo berthd network-controller certificate --address 10.0.0.1 --out /var/lib/berth/controller',
      'sudo rm /var/lib/berth/controller /var/lib/berth/host',
    )
    for (const command of commands) await succeed(command)
    await succeed(`install -m 644 ${image} /var/lib/berth/tiny.qcow2 && sudo berthd template import tiny --file /var/lib/berth/tiny.qcow2`)
    await eventually(async () => (await box.run('curl --silent --fail http://127.0.0.1:8080/readyz')).code === 0, LIVE_MS)
    expect(await succeed('sudo berthd doctor')).not.toContain('✗')

    await succeed('sudo berthd account create --email ada@example.com')
    await succeed('sudo berthd account credit --account ada@example.com --amount 100.00')
    token = (
      JSON.parse(await succeed("sudo berthd token create --account ada@example.com --name first --scopes '*' --json")) as { token: string }
    ).token
    await succeed('ssh-keygen -q -t ed25519 -N "" -f .ssh/id_ed25519')
    await berth('key add laptop @.ssh/id_ed25519.pub')
    await berth('vm create web-1 --os tiny --key laptop')
    await guestAnswers()
    await inGuest("'echo kept > /root/kept; sync'")
  })

  test('its guest is back after a reboot', async () => {
    const before = await qemu()
    await box.reboot()
    await guestAnswers()
    expect(await inGuest('cat /root/kept')).toBe('kept\n')
    expect(await qemu()).not.toBe(before)
  })

  test('its guest runs on through an upgrade', async () => {
    const before = await qemu()
    await succeed(`sudo apt install ./berth_${NEXT}_${debArch}.deb`)
    await guestAnswers()
    expect(await qemu()).toBe(before)
  })

  test('purge leaves nothing of it, once the guest is deleted', async () => {
    await berth('vm delete web-1 --yes')
    await succeed('sudo apt purge berth')
    expect((await box.run('pgrep -f guest=berth-')).code).toBe(1)
    const left = await succeed(
      "find / -xdev '(' -path /proc -o -path /sys -o -path /root -o -path /var/log -o -path /var/cache/apt ')' -prune -o -name '*berth*' -print",
    )
    expect(left).toBe('')
    expect(await succeed('systemctl --failed --plain --no-legend --no-pager')).toBe('')
  })
})
