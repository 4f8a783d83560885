import { describe, expect, test } from 'vitest'
import { data, html, json, scripted, type Behaviour } from '../../sdk/test/scripted.ts'
import { berth, createCliFixture } from './fixture.ts'

const app = await createCliFixture()
const customer = await app.given.customer({ credit: '100.00' })
const env = app.envOf(customer)
await app.given.vm(customer, { isProtected: true })

describe('a command exits with', () => {
  const cases: [number, string, string[], RegExp][] = [
    [0, 'success', ['vm', 'list'], /^$/],
    [1, 'a region without IPv6', ['vm', 'create', 'six-1', '--os', 'debian-12', '--ipv6-only'], /leave --ipv6-only out\n$/],
    [2, 'an unknown command', ['vm', 'lits'], /^Error: Unknown command 'lits'/],
    [2, 'a missing argument', ['vm', 'get'], /^Error: Missing required argument 'vm'\nUsage: berth vm get\|show \[options\] <vm>\n$/],
    [2, 'an unknown option', ['vm', 'list', '--fast'], /^Error: Unknown option '--fast'/],
    [2, 'an unknown output format', ['vm', 'list', '-o', 'xml'], /Allowed choices are table, json, name/],
    [2, 'a validation error of the API', ['vm', 'create', '-', '--os', 'debian-12'], /hostname must be/],
    [2, 'nothing to change', ['vm', 'update', 'web-1'], /Nothing to change\. Use at least one of: --daily-backups/],
    [2, 'an incomplete custom size', ['vm', 'create', 'a', '--os', 'debian-12', '--vcpu', '2'], /requires all of --vcpu, --ram and --disk/],
    [2, 'TCP without a port', ['vm', 'reach', 'web-1', '1.1.1.1'], /^Error: --port is required for TCP/],
    [2, 'no VM as the expected one', ['address', 'unassign', 'www', '--expect-vm', 'none'], /^Error: --expect-vm must be a VM/],
    [4, 'an unknown name', ['vm', 'get', 'web-9'], /^Error: No VM named "web-9"/],
    [2, 'an argument too many', ['vm', 'get', 'a', 'b'], /^Error: Too many arguments .*\nUsage: berth vm get.* <vm>\n$/],
    [4, 'an unknown id', ['vm', 'get', `c${'a'.repeat(24)}`], /^Error: VM not found/],
    [5, 'a conflict', ['vm', 'delete', 'web-1', '--yes'], /protected against delete: berth vm unprotect\n$/],
    [5, 'a wrong state', ['vm', 'start', 'web-1'], /VM must be/],
    [6, 'an exceeded quota', ['vm', 'create', 'big', '--os', 'debian-12', '--vcpu', '64', '--ram', '512', '--disk', '5'], /./],
  ]
  test.each(cases)('%i on %s', async (code, _, args, message) => {
    const { stdout, ...outcome } = await berth(env, args)
    expect(outcome).toEqual({ code, stderr: expect.stringMatching(message) })
    expect(stdout === '').toBe(code !== 0)
  })

  test('1 on a disk that never shrinks, with the flag that keeps it', async () => {
    const { data: plans } = (await customer.get('/plans')).body as { data: { id: string; slug: string }[] }
    await app.given.vm(customer, { hostname: 'large-1', planId: plans.find(({ slug }) => slug === 'medium')!.id })
    const { code, stderr } = await berth(env, ['vm', 'resize', 'large-1', '--plan', 'small'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/give the plan with --disk 50, which costs more than the plan\n$/)])
  })

  test('3 on a missing token, an invalid token and a missing scope', async () => {
    const { BERTH_TOKEN: _, ...none } = env
    expect(await berth(none, ['vm', 'list'])).toMatchObject({ code: 3, stderr: expect.stringContaining('berth login') })
    expect(await berth({ ...env, BERTH_TOKEN: 'vmk_wrong' }, ['vm', 'list'])).toMatchObject({ code: 3 })
    const reader = await app.given.token(customer.accountId, { scopes: ['vms:read'] })
    expect(await berth(app.envOf(reader), ['wallet', 'show'])).toMatchObject({ code: 3, stderr: expect.stringContaining('wallet:read') })
  })

  test('3 on a scope that only the command line needs, with what for and what does without it', async () => {
    const vms = app.envOf(await app.given.token(customer.accountId, { scopes: ['vms:*'] }))
    const { regionId, osTemplateId } = await app.given.vmInput()
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await berth(vms, args)
      expect(code).toBe(3)
      return stderr
    }
    const lacks = 'Error: This token lacks the required scope: catalog:read. It is needed'
    expect(await refused('vm', 'create', 'q', '--os', 'tiny', '--region', regionId)).toBe(
      `${lacks} to find the OS template "tiny" by its name; an id does without it\n`,
    )
    expect(await refused('vm', 'create', 'q', '--os', osTemplateId)).toBe(
      `${lacks} to choose the region; --region with an id does without it\n`,
    )
    expect(await refused('vm', 'ssh', 'web-1', '--print')).toBe(`${lacks} to know who logs in; --user does without it\n`)
    expect((await berth(vms, ['vm', 'create', 'q', '--os', osTemplateId, '--region', regionId, '--dry-run'])).code).toBe(0)
    expect((await berth(vms, ['vm', 'ssh', 'web-1', '--user', 'root', '--print'])).code).toBe(0)
  })

  test('6 on insufficient funds', async () => {
    const poor = await app.given.customer({ credit: '0.10' })
    const outcome = await berth(app.envOf(poor), ['vm', 'create', 'web-1', '--os', 'debian-12'])
    expect(outcome).toMatchObject({ code: 6, stdout: '', stderr: expect.stringMatching(/0\.10 USD available/) })
  })

  test('7 on a timeout while the action is running, which action wait resumes', async () => {
    const outcome = await berth(env, ['vm', 'restart', 'web-1', '--timeout', '2'])
    expect(outcome).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining('RESTART is still PENDING') })
    const [, id] = /action (\w+) again/.exec(outcome.stderr)!
    const waited = await app.whileWorking(berth(env, ['action', 'wait', 'web-1', id!, '-o', 'json']))
    expect([waited.code, JSON.parse(waited.stdout)]).toMatchObject([0, { id, status: 'COMPLETED' }])
  })

  test('7 when the server is unreachable until the timeout', async () => {
    const away = { ...env, BERTH_URL: 'http://127.0.0.1:9' }
    const [vmId, actionId] = [`c${'a'.repeat(24)}`, `c${'b'.repeat(24)}`]
    expect(await berth(away, ['action', 'wait', vmId, actionId, '--timeout', '0.2'])).toMatchObject({
      code: 7,
      // On a slow machine it is said before that the request is sent again.
      stderr: expect.stringMatching(
        new RegExp(
          `^(Server unreachable: .*\n)?Error: The server did not respond within 0.2 seconds. The action continues: wait for action ${actionId} again\n$`,
        ),
      ),
    })
    expect(await berth(away, ['action', 'wait', vmId, actionId, '--timeout', '60', '--retries', '0'])).toMatchObject({ code: 1 })
  })

  test('1 on a failed action, with its error', async () => {
    await app.simulated.faults.plant({ verb: 'ensureSnapshot', kind: 'permanent', times: 10 })
    const failed = await app.whileWorking(berth(env, ['snapshot', 'create', 'web-1', 'broken']))
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/Error: \S+/) })
  })

  test('8 on a rate limit after all retries', async () => {
    const { token } = await app.given.token(customer.accountId, { requestsPerMinute: 1 })
    const outcome = await berth({ ...env, BERTH_TOKEN: token }, ['event', 'list', '--retries', '0'])
    expect(outcome.code).toBe(0)
    expect(await berth({ ...env, BERTH_TOKEN: token }, ['event', 'list', '--retries', '0'])).toMatchObject({
      code: 8,
      stderr: expect.stringContaining('Rate limit exceeded (per token)'),
    })
  })

  test('1 on an unreachable server', async () => {
    const outcome = await berth({ ...env, BERTH_URL: 'http://127.0.0.1:9' }, ['vm', 'list', '--retries', '0'])
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('Error: ') })
  })
})

test('a server error names the request once', async () => {
  const stderrFor = async (error: string): Promise<string> => {
    const { baseUrl } = await scripted(json(500, { success: false, error }, { 'x-error-code': 'internal_error', 'x-request-id': 'creq1' }))
    return (await berth({ ...env, BERTH_URL: baseUrl }, ['region', 'list', '--retries', '0'])).stderr
  }
  expect(await stderrFor('It failed')).toBe('Error: It failed (request creq1)\n')
  expect(await stderrFor('It failed. Quote request creq1 to support')).toBe('Error: It failed. Quote request creq1 to support\n')
})

test('a long retry delay is reported with its reason', async () => {
  const stderrFor = async (...behaviours: Behaviour[]): Promise<string> => {
    const { baseUrl } = await scripted(...behaviours)
    return (await berth({ ...env, BERTH_URL: baseUrl }, ['region', 'list', '--retries', '1'])).stderr
  }
  const busy = json(503, { success: false, error: 'Busy' }, { 'x-error-code': 'service_unavailable', 'retry-after': '2' })
  expect(await stderrFor(busy, data([]))).toMatch(/^Busy: retrying in 3 s\n/)
  const limited = json(429, { success: false, error: 'Rate limit exceeded' }, { 'x-error-code': 'rate_limited', 'retry-after': '2' })
  expect(await stderrFor(limited, data([]))).toMatch(/^Rate limit reached: retrying in 3 s\n/)
  expect(await stderrFor(html(503, { 'retry-after': '2' }), data([]))).toMatch(/^Server unreachable: retrying in 3 s\n/)
})
