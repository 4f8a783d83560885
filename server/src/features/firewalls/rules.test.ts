import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { linesOf } from './lines.ts'

const app = await testApp()
const ssh = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' } as const

const given = async (...descriptions: string[]) => {
  const customer = await app.given.customer()
  const { id } = (await customer.post('/firewalls', { name: 'web' })).body.data
  const path = `/firewalls/${id}/rules`
  const ids: string[] = []
  for (const description of descriptions) ids.push((await customer.post(path, { ...ssh, description })).body.data.id)
  const order = async (): Promise<string> => {
    const rules: { position: number; description: string }[] = (await customer.get(path)).body.data
    expect(rules.map((rule) => rule.position)).toEqual(rules.map((_, index) => index + 1))
    return rules.map((rule) => rule.description).join('')
  }
  return { customer, id, path, ids, order }
}

describe('POST /firewalls/{id}/rules', () => {
  test('returns the rule exactly as the specification shows it', async () => {
    const { customer, id, path } = await given()
    const { status, body } = await customer.post(path, {
      ...ssh,
      sourceIps: ['203.0.113.7', '10.1.2.3/8', '2001:DB8:0:1::7/48', '::1/128'],
      description: 'ssh',
    })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^c[a-z0-9]{24}$/),
      firewallId: id,
      position: 1,
      direction: 'IN',
      action: 'ACCEPT',
      protocol: 'TCP',
      port: '22',
      sourceIps: ['203.0.113.7', '10.0.0.0/8', '2001:db8::/48', '::1/128'],
      destIps: [],
      description: 'ssh',
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    expect((await customer.get(path)).body).toEqual({ success: true, data: [body.data] })
    expect((await customer.get(`/firewalls/${id}`)).body.data.ruleCount).toBe(1)
  })

  test.each([
    ['absent', {}],
    ['null', { port: null }],
    ['any', { port: 'any' }],
  ])('treats a port that is %s as all ports', async (_, more) => {
    const { customer, path } = await given()
    expect((await customer.post(path, { direction: 'IN', action: 'DROP', protocol: 'UDP', ...more })).body.data.port).toBe('any')
  })

  test.each(['1', '65535', '80,443', '8000-9000', '22,80-90,443', '7-7'])('accepts the port %s', async (port) => {
    const { customer, path } = await given()
    expect((await customer.post(path, { ...ssh, port })).body.data.port).toBe(port)
  })

  test.each(['0', '65536', '22-', '-22', '90-80', '22, 23', '22,,23', 'ssh', '', '022', Array(16).fill('1').join(',')])(
    'refuses the port "%s"',
    async (port) => {
      const { customer, path } = await given()
      const { status, headers, body } = await customer.post(path, { ...ssh, port })
      expect([status, headers['x-error-code']]).toEqual([400, 'validation_failed'])
      expect(body.error).toContain('port')
    },
  )

  test('names a port beyond the last one together with a wrong source', async () => {
    const { customer, path } = await given()
    const { body } = await customer.post(path, { ...ssh, port: '65536', sourceIps: ['nowhere'] })
    expect(body.error).toMatch(/: port must be ports from 1 to 65535 .*; sourceIps\.0 must be an address/)
  })

  test.each(['ICMP', 'ICMPV6', 'ANY'])('refuses a port with %s', async (protocol) => {
    const { customer, path } = await given()
    const { status, body } = await customer.post(path, { ...ssh, protocol })
    expect([status, body.error]).toEqual([
      400,
      `Validation failed: port can be given only with TCP or UDP: leave it out, or set it to null, for ${protocol}`,
    ])
    expect((await customer.post(path, { ...ssh, protocol, port: null })).status).toBe(201)
  })

  test.each([
    ['an unknown direction', { direction: 'in' }, 'direction'],
    ['an unknown action', { action: 'ALLOW' }, 'action'],
    ['an unknown protocol', { protocol: 'tcp' }, 'protocol'],
    ['an address that is none', { sourceIps: ['10.0.0'] }, 'sourceIps'],
    ['an ambiguous address', { sourceIps: ['010.0.0.1'] }, 'sourceIps'],
    ['an IPv6 address that is none', { destIps: ['1::2::3'] }, 'destIps'],
    ['an IPv6 prefix that is none', { destIps: ['::1/129'] }, 'destIps'],
    ['a scoped address', { sourceIps: ['fe80::1%eth0'] }, 'sourceIps'],
    ['51 addresses', { sourceIps: Array(51).fill('10.0.0.1') }, 'sourceIps'],
    ['a description of 201 characters', { description: 'd'.repeat(201) }, 'description'],
    ['position 0', { position: 0 }, 'position'],
    ['a field nobody knows', { ports: '22' }, 'ports'],
  ])('refuses %s', async (_, more, field) => {
    const { customer, path } = await given()
    const { status, body } = await customer.post(path, { ...ssh, ...more })
    expect(status).toBe(400)
    expect(body.error).toContain(field)
  })

  test('inserts at a position and shifts the following rules', async () => {
    const { customer, path, order } = await given('a', 'b', 'c')
    const { body } = await customer.post(path, { ...ssh, description: 'x', position: 2 })
    expect(body.data.position).toBe(2)
    expect(await order()).toBe('axbc')
    await customer.post(path, { ...ssh, description: 'y', position: 5 })
    await customer.post(path, { ...ssh, description: 'z', position: 1 })
    expect(await order()).toBe('zaxbcy')
  })

  test('refuses a position past the end', async () => {
    const { customer, path } = await given('a')
    const { status, body } = await customer.post(path, { ...ssh, position: 3 })
    expect([status, body.error]).toEqual([422, 'Position 3 does not exist: it must be between 1 and 2'])
  })

  test('refuses the 51st rule', async () => {
    const { customer, path } = await given()
    await customer.put(path, { rules: Array(50).fill(ssh) })
    const { status, headers } = await customer.post(path, ssh)
    expect([status, headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'rules_per_firewall', 51n))
    expect((await customer.post(path, ssh)).status).toBe(201)
  })

  test('refuses rules that expand to too many filter lines', async () => {
    const { customer, path } = await given()
    const many = Array.from({ length: 50 }, (_, i) => `10.0.0.${i}`)
    const { status, headers, body } = await customer.post(path, { ...ssh, sourceIps: many, destIps: many.slice(0, 11) })
    expect([status, headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
    expect(body.error).toContain('550')
    expect((await customer.post(path, { ...ssh, sourceIps: many, destIps: many.slice(0, 10) })).status).toBe(201)
  })

  test.each([
    ['22', 1],
    ['80,443,8080', 3],
    ['1-65535', 1],
    ['0-65535', 1],
    ['8192-16383', 1],
    ['1024-65535', 6],
    ['8000-9000', 7],
    ['1-65534', 30],
    ['22,1-65534', 31],
  ])('the ports %s are %i filter lines', (port, lines) => {
    expect(linesOf({ ...ssh, port, source_ips: [], dest_ips: [] })).toBe(lines)
  })

  test('refuses ranges of ports that expand to too many filter lines', async () => {
    const { customer, path } = await given()
    const rules = Array(17).fill({ ...ssh, port: '1-65534' })
    const { status, headers, body } = await customer.put(path, { rules })
    expect([status, headers['x-error-code'], body.error]).toEqual([422, 'quota_exceeded', expect.stringContaining('510')])
    expect((await customer.put(path, { rules: rules.slice(1) })).status).toBe(200)
  })

  test('keeps positions contiguous under concurrency', async () => {
    const { customer, path, order } = await given()
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => customer.post(path, { ...ssh, description: 'r', ...(i % 2 && { position: 1 }) })),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(50)
    expect(await order()).toBe('r'.repeat(50))
  })
})

describe('PUT /firewalls/{id}/rules', () => {
  test('replaces all rules atomically', async () => {
    const { customer, path, order } = await given('a', 'b')
    const { status, body } = await customer.put(path, {
      rules: [
        { ...ssh, description: 'x' },
        { direction: 'OUT', action: 'REJECT', protocol: 'ICMP', description: 'y' },
        { ...ssh, description: 'z' },
      ],
    })
    expect([status, await order()]).toEqual([200, 'xyz'])
    expect(body.data).toEqual((await customer.get(path)).body.data)
    expect((await customer.put(path, { rules: [] })).body.data).toEqual([])
  })

  test('changes nothing when one rule is invalid, and names it', async () => {
    const { customer, path, order } = await given('a')
    const { status, body } = await customer.put(path, { rules: [ssh, { ...ssh, protocol: 'ANY' }] })
    expect(status).toBe(400)
    expect(body.error).toContain('rules.1.port')
    expect(await order()).toBe('a')
  })

  test('refuses more than 50', async () => {
    const { customer, path } = await given()
    const { status, headers } = await customer.put(path, { rules: Array(51).fill(ssh) })
    expect([status, headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
  })
})

describe('PATCH /firewalls/{id}/rules/{ruleId}', () => {
  test('changes only the given fields', async () => {
    const { customer, path, ids } = await given('a')
    const before = (await customer.get(path)).body.data[0]
    app.clock.advance('1m')
    const { status, body } = await customer.patch(`${path}/${ids[0]}`, { port: '2222', sourceIps: ['10.0.0.1'] })
    expect(status).toBe(200)
    expect(body.data).toEqual({ ...before, port: '2222', sourceIps: ['10.0.0.1'], updatedAt: app.clock.now().toISOString() })
    expect((await customer.patch(`${path}/${ids[0]}`, { sourceIps: [] })).body.data).toMatchObject({ port: '2222', sourceIps: [] })
    expect((await customer.patch(`${path}/${ids[0]}`, {})).body.data).toMatchObject({ port: '2222', description: 'a' })
  })

  test('moves a rule in both directions', async () => {
    const { customer, path, ids, order } = await given('a', 'b', 'c', 'd')
    expect((await customer.patch(`${path}/${ids[3]}`, { position: 1 })).body.data.position).toBe(1)
    expect(await order()).toBe('dabc')
    await customer.patch(`${path}/${ids[0]}`, { position: 4 })
    expect(await order()).toBe('dbca')
    await customer.patch(`${path}/${ids[1]}`, { position: 2 })
    expect(await order()).toBe('dbca')
    expect((await customer.patch(`${path}/${ids[1]}`, { position: 5 })).status).toBe(422)
  })

  test('refuses a protocol that conflicts with the port', async () => {
    const { customer, path, ids } = await given('a')
    expect((await customer.patch(`${path}/${ids[0]}`, { protocol: 'ICMP' })).status).toBe(400)
    expect((await customer.patch(`${path}/${ids[0]}`, { protocol: 'ICMP', port: null })).body.data).toMatchObject({
      protocol: 'ICMP',
      port: 'any',
    })
  })

  test('reports a rule of another firewall as not found', async () => {
    const { customer, path } = await given('a')
    const other = (await customer.post('/firewalls', { name: 'other' })).body.data.id
    const foreign = (await customer.post(`/firewalls/${other}/rules`, ssh)).body.data.id
    const { status, body } = await customer.patch(`${path}/${foreign}`, { action: 'DROP' })
    expect([status, body.error]).toEqual([404, 'Firewall rule not found'])
  })
})

describe('DELETE /firewalls/{id}/rules/{ruleId}', () => {
  test('renumbers the following rules', async () => {
    const { customer, path, ids, order } = await given('a', 'b', 'c')
    const { status, body } = await customer.delete(`${path}/${ids[1]}`)
    expect([status, body.data, await order()]).toEqual([200, { id: ids[1] }, 'ac'])
    expect((await customer.delete(`${path}/${ids[1]}`)).status).toBe(404)
  })
})
