// The Debian package from the first installation to its purge, by the commands of docs/operate/install.md, on a machine with systemd. Everything happens in a box
// (deb/box.ts): users, services and files of this machine are not touched.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../libvirt/test/describe-if.ts'
import { eventually } from '../server/test/processes.ts'
import { BOX_ADDRESS, createBox, missingForBox, type Box, type Outcome } from './deb/box.ts'
import type { Architecture } from './deb/build.ts'
import { debArch as arch, debs, NEXT, nextDeb, run, version } from './deb/debs.ts'

const root = join(import.meta.dirname, '..')
const other: Architecture = arch === 'amd64' ? 'arm64' : 'amd64'
const CA = 'https://ca.example.com/acme/acme/directory'
const DIRECTORY = 'https://ca.example.com:9443/acme/local/directory'
/** A certificate authority that speaks ACME: a second Caddy. */
const AUTHORITY = `{
  admin off
  skip_install_trust
  auto_https disable_redirects
  storage file_system /root/authority
  pki {
    ca local {
      name "Berth test authority"
    }
  }
}
ca.example.com:9443 {
  tls internal
  acme_server
}
`
const BROKEN = '99.1.0'
const MIGRATIONS = 'usr/lib/berth/node_modules/@berth/server/migrations'

describeIf(missingForBox())('the Debian package', { timeout: 1_200_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-deb-prove-'))
  let box: Box
  let debOf: Awaited<ReturnType<typeof debs>>

  beforeAll(async () => {
    debOf = await debs(folder)
    const deb = debOf(arch)
    const next = nextDeb(folder, deb, NEXT)
    const broken = nextDeb(folder, deb, BROKEN, (stage) =>
      writeFileSync(join(stage, MIGRATIONS, '9999_broken.sql'), 'create table never (id integer);\nselect 1 / 0;\n'),
    )
    box = await createBox(deb, next, broken)
  }, 1_800_000)
  afterAll(async () => {
    await box?.close()
    rmSync(folder, { recursive: true, force: true })
  }, 120_000)

  const handbook = readFileSync(join(root, 'docs/operate/install.md'), 'utf8')
  /** A command that the handbook has, with the version and architecture of here. */
  const documented = (command: string): string => {
    expect(handbook).toContain(`\n${command}\n`)
    return command.replace('VERSION', version).replace('NEXT', NEXT).replace('amd64', arch)
  }
  const succeed = async (command: string, on: (script: string) => Promise<Outcome> = box.run): Promise<string> => {
    const { code, output } = await on(command)
    if (code !== 0) throw new Error(`${command} (${code}): ${output}`)
    return output
  }
  const ready = (): Promise<boolean> =>
    eventually(async () => (await box.run('curl --silent --fail http://127.0.0.1:8080/readyz')).code === 0, 180_000)
  const stateOf = async (unit: string): Promise<string> => (await box.run(`systemctl is-active ${unit}`)).output.trim()
  const pidOf = async (unit: string): Promise<string> => (await succeed(`systemctl show -P MainPID ${unit}`)).trim()
  const settings = (): string => readFileSync(join(box.root, 'etc/berth/berth.env'), 'utf8')
  let token: string
  const berth = (args: string): Promise<string> => succeed(`BERTH_URL=http://127.0.0.1:8080 BERTH_TOKEN=${token} berth ${args}`)
  const sql = async (query: string): Promise<string> => (await succeed(`cd /; sudo -u postgres psql -tA berth -c "${query}"`)).trim()

  test('contains programs of its own architecture alone', () => {
    const machine = { amd64: 0x3e, arm64: 0xb7 } // of the header of ELF
    const deb = debOf(other)
    run('dpkg-deb', '--raw-extract', deb, join(folder, 'other'))
    const programs = run('find', join(folder, 'other'), '(', '-name', 'node', '-path', '*/bin/node', '-o', '-name', '*.node', ')')
      .trim()
      .split('\n')
    expect(programs.length).toBeGreaterThan(1)
    for (const path of programs) expect(readFileSync(path).readUInt16LE(18)).toBe(machine[other])
    expect(run('dpkg-deb', '--field', deb, 'Architecture').trim()).toBe(other)
    const hash = run('sha256sum', deb)
    rmSync(deb)
    debOf(other)
    expect(run('sha256sum', deb)).toBe(hash)
    rmSync(join(folder, 'other'), { recursive: true })
    rmSync(deb)
  })

  test('without systemd it is installed and purged', async () => {
    const said = await succeed(documented('sudo apt install ./berth_VERSION_amd64.deb').replace('sudo ', ''), box.chroot)
    expect(said).toContain('Berth is installed. Set it up with: sudo berthd setup')
    expect(await succeed('berthd --version && berth --version', box.chroot)).toBe(`${version}\n${version}\n`)
    await succeed('apt purge berth', box.chroot)
    expect((await box.chroot('id berth || ls -d /etc/berth /var/lib/berth /usr/lib/berth')).code).not.toBe(0)
  })

  test('is installed with user, folders and settings, and runs nothing yet', async () => {
    await box.boot()
    await succeed(documented('sudo apt install ./berth_VERSION_amd64.deb'))
    expect(await succeed('stat -c "%a %U:%G" /etc/berth/berth.env /var/lib/berth')).toBe('640 root:berth\n700 berth:berth\n')
    expect(await succeed('getent passwd berth')).toMatch(/:\/var\/lib\/berth:\/usr\/sbin\/nologin\n$/)
    expect([await stateOf('berth-api'), await stateOf('berth.target')]).toEqual(['inactive', 'inactive'])
    const stranger = await box.run('cd /; runuser -u nobody -- berthd doctor')
    expect(stranger).toEqual({ code: 1, output: 'Only root may run this: sudo berthd doctor\n' })
    await succeed('cd /; runuser -u nobody -- berthd setup --help && runuser -u nobody -- berth --version')
  })

  test.each([
    ['no domain', '', 'Give --domain'],
    ['no database', '--domain cloud.example.com', 'Give --database-url or --local-database'],
    [
      'a database that does not answer',
      '--domain cloud.example.com --database-url postgres://a:b@127.0.0.1:1/c',
      'The database cannot be reached',
    ],
    ['a certificate that is not there', '--domain a.example --local-database --certificate /none --key /none', '/none cannot be read'],
    ['a bad setting', '--domain cloud.example.com --local-database --smtp-url nonsense', '--smtp-url must be a URL'],
  ])('setup refuses %s, and changes nothing', async (_, options, message) => {
    const before = settings()
    const { code, output } = await box.run(`sudo berthd setup ${options}`)
    expect([code === 0, output]).toEqual([false, expect.stringContaining(message)])
    expect(settings()).toBe(before)
    expect((await succeed('cd /; sudo -u postgres psql -tAc "select from pg_roles where rolname = \'berth\'"')).trim()).toBe('')
  })

  test('setup asks at a terminal, and starts everything', async () => {
    const { code, output } = await box.type(`${documented('sudo berthd setup')} --hypervisor simulated`, [
      ['Domain', 'no domain'],
      ['"no domain" is not a domain', 'cloud.example.com'],
      ['TLS:', 'proxy'],
      ['URL of the database', ''],
      ['SMTP server', ''],
    ])
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).toMatch(/https:\/\/cloud\.example\.com\/welcome#lnk_\w+/)
    await ready()
    expect([await stateOf('berth-api'), await stateOf('berth-worker')]).toEqual(['active', 'active'])
    expect(await succeed('stat -c "%a %U:%G" /etc/berth/berth.env')).toBe('640 root:berth\n')
    expect(settings()).toContain('\nBERTH_PUBLIC_URL=https://cloud.example.com\n')
  })

  test("setup with ACME has Caddy ask Let's Encrypt for a certificate, which it does not reach", async () => {
    await succeed('sudo berthd setup --tls acme < /dev/null')
    const plain = 'curl --silent --write-out "%{http_code} %{redirect_url}" --header "Host: cloud.example.com" http://127.0.0.1/'
    expect(await succeed(plain)).toBe('308 https://cloud.example.com/')
    await eventually(async () => /tls.obtain.*cloud\.example\.com/.test((await box.run('journalctl --no-pager -u caddy')).output), 60_000)
  })

  const served = (): Promise<string> =>
    succeed(
      'openssl s_client -connect 127.0.0.1:443 -servername cloud.example.com < /dev/null 2>/dev/null | openssl x509 -noout -issuer -serial',
    )

  test('setup with another directory of ACME obtains a certificate, serves it and renews it', async () => {
    await succeed(`echo ${BOX_ADDRESS} cloud.example.com ca.example.com >> /etc/hosts`)
    writeFileSync(join(box.root, 'root/authority.caddy'), AUTHORITY)
    await succeed('systemd-run --quiet --unit authority --setenv HOME=/root caddy run --adapter caddyfile --config /root/authority.caddy')
    const root = '/root/authority/pki/authorities/local/root.crt'
    await eventually(async () => (await box.run(`curl --fail --cacert ${root} ${DIRECTORY}`)).code === 0, 60_000)
    const missing = await box.run(`sudo berthd setup --acme-directory ${DIRECTORY} --acme-root /none < /dev/null`)
    expect([missing.code, missing.output]).toEqual([2, expect.stringContaining('/none cannot be read')])

    const command = documented(`sudo berthd setup --tls acme --acme-directory ${CA} --acme-root root.crt`)
    await succeed(`cp ${root} . && ${command.replace(CA, DIRECTORY)} < /dev/null`)
    const serves = async (): Promise<boolean> =>
      (await box.run(`curl --silent --fail --cacert ${root} https://cloud.example.com/healthz`)).code === 0
    await eventually(serves, 120_000)
    const first = await served()
    expect(first).toContain('Berth test authority')

    // As after a night without power: Caddy comes back with a certificate that has expired, and settings that setup has kept.
    await succeed('sudo berthd setup < /dev/null')
    await succeed('systemctl stop caddy')
    await succeed(`cd /var/lib/caddy/.local/share/caddy/certificates/*/cloud.example.com && openssl x509 -in cloud.example.com.crt -key cloud.example.com.key \\
      -days 0 -out /root/expired.crt && cat /root/expired.crt > cloud.example.com.crt`)
    await succeed('systemctl start caddy')
    // After an attempt that failed, Caddy waits for a minute, then for two.
    await eventually(async () => (await serves()) && (await served()) !== first, 300_000)
    expect(await served()).toContain('Berth test authority')
    await succeed("systemctl stop authority && sudo berthd setup --acme-directory '' < /dev/null")
    expect((await box.run('cat /etc/berth/caddy/berth.caddy; ls /etc/berth/caddy')).output).not.toMatch(/ca\.example\.com|acme-root/)
  })

  test('setup again, with TLS by a certificate, keeps what it was not told to change', async () => {
    const url = /^BERTH_DATABASE_URL=.*$/m.exec(settings())![0]
    await succeed('echo "BERTH_SELLER_NAME=\'Example # Cloud\'" >> /etc/berth/berth.env')
    await succeed(
      'openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cloud.example.com -addext subjectAltName=DNS:cloud.example.com -keyout key.pem -out chain.pem',
    )
    const wrong = await box.run('sudo berthd setup --domain other.example.com --tls certificate --certificate chain.pem --key key.pem')
    expect([wrong.code, wrong.output]).toEqual([2, expect.stringContaining('chain.pem is not for other.example.com')])
    const command = documented(
      'sudo berthd setup --domain cloud.example.com --tls certificate --certificate chain.pem --key key.pem --local-database',
    )
    await succeed(command)
    expect(settings()).toContain(`\n${url}\n`)
    expect(settings()).toContain("BERTH_SELLER_NAME='Example # Cloud'")
    expect(settings()).toContain('BERTH_TRUSTED_PROXIES=127.0.0.1')
    expect(await succeed('stat -c "%a %U:%G" /etc/berth/caddy/key.pem')).toBe('640 root:caddy\n')
    const asked = 'curl --silent --fail --cacert chain.pem --resolve cloud.example.com:443:127.0.0.1 https://cloud.example.com/readyz'
    await eventually(async () => (await box.run(asked)).code === 0, 60_000)

    const [api, text] = [await pidOf('berth-api'), settings()]
    expect(await succeed('sudo berthd setup < /dev/null')).toContain('Caddy serves https://cloud.example.com')
    expect([await pidOf('berth-api'), settings()]).toEqual([api, text])
  })

  test('doctor finds nothing wrong, and the first VM runs', async () => {
    expect(await succeed(documented('sudo berthd doctor'))).not.toContain('✗')
    await succeed(documented('sudo berthd account create --email ada@example.com'))
    await succeed('sudo berthd account credit --account ada@example.com --amount 100.00')
    token = (
      JSON.parse(await succeed("sudo berthd token create --account ada@example.com --name first --scopes '*' --json")) as { token: string }
    ).token
    await berth('vm create web-1 --os debian-12')
    expect(await berth('vm list')).toMatch(/web-1 +RUNNING/)
  })

  test.each(['berth-api', 'berth-worker', 'berth-migrate'])('%s is rated at most 2.0 of 10 where it runs', async (unit) => {
    const report = await succeed(`systemd-analyze security --no-pager ${unit}.service`)
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(report)?.[1])).toBeLessThanOrEqual(2)
  })

  test('everything is back after a reboot', async () => {
    await box.reboot()
    await ready()
    expect(await berth('vm list')).toMatch(/web-1 +RUNNING/)
    expect([await stateOf('berth-api'), await stateOf('berth-worker')]).toEqual(['active', 'active'])
  })

  test('an upgrade restarts what runs, after the migrations', async () => {
    const [before, api, worker] = [settings(), await pidOf('berth-api'), await pidOf('berth-worker')]
    expect(await succeed(documented('sudo apt install ./berth_NEXT_amd64.deb'))).toContain('The database is at')
    await ready()
    expect(await succeed('berthd --version')).toBe(`${NEXT}\n`)
    expect(await pidOf('berth-api')).not.toBe(api)
    expect(await pidOf('berth-worker')).not.toBe(worker)
    expect(settings()).toBe(before)
    expect(await berth('vm list')).toMatch(/web-1 +RUNNING/)
  })

  test('a migration that fails changes no data and leaves the old version running', async () => {
    const api = await pidOf('berth-api')
    const { code, output } = await box.run(`sudo apt install ./berth_${BROKEN}_${arch}.deb`)
    expect([code === 0, output]).toEqual([false, expect.stringContaining('Migration 9999_broken failed: division by zero')])
    expect(output).toContain(`What ran before still runs, as version ${NEXT}`)
    expect(await sql("select to_regclass('never') is null")).toBe('t')
    expect(await pidOf('berth-api')).toBe(api)
    await ready()
    expect(await berth('vm list')).toMatch(/web-1 +RUNNING/)
    await succeed(`sudo apt install --allow-downgrades ./berth_${NEXT}_${arch}.deb`)
    await ready()
  })

  test('remove keeps settings and data, and a new installation continues with them', async () => {
    const before = settings()
    await succeed(documented('sudo apt remove berth'))
    expect(await stateOf('berth-api')).not.toBe('active')
    expect((await box.run('ls /usr/lib/berth /usr/bin/berthd')).code).not.toBe(0)
    expect(settings()).toBe(before)
    expect(await succeed('stat -c "%a %U" /var/lib/berth/master.key')).toBe('600 berth\n')
    await succeed(`sudo apt install ./berth_${NEXT}_${arch}.deb`)
    await ready()
    expect(await berth('vm list')).toMatch(/web-1 +RUNNING/)
  })

  test('purge asks nothing, leaves nothing, and needs nothing that is gone', async () => {
    await succeed(documented('sudo apt purge berth'))
    const left = await succeed(
      "find / -xdev '(' -path /proc -o -path /sys -o -path /root -o -path /var/log -o -path /var/cache/apt ')' -prune -o -name '*berth*' -print",
    )
    expect(left).toBe('')
    expect((await box.run('id berth; getent group berth')).code).not.toBe(0)
    expect((await succeed('cd /; sudo -u postgres psql -tAc "select datname from pg_database where datname = \'berth\'"')).trim()).toBe('')
    expect(await succeed('cat /etc/caddy/Caddyfile')).not.toContain('berth')

    await succeed(`sudo apt install ./berth_${version}_${arch}.deb`)
    await succeed('rm -r /etc/berth /var/lib/berth && userdel berth')
    await succeed('sudo apt purge berth')
    expect(await succeed('systemctl --failed --plain --no-legend --no-pager')).toBe('')
  })
})
