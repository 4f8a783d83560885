import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { consoleFixture, sendOverSocket, TIMEOUT } from '../../../test/console-client.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { pruneConsoles } from './prune.reconciler.ts'

describe('POST /vms/{id}/console', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const { port, ask, link, connect } = await consoleFixture(app)
  const rich = () => app.given.customer({ credit: '10000.00' })
  const events = (vmId: string) =>
    app.db.many<{ type: string; data: object }>(sql`
      select type, data from events where subject_id = ${vmId} and type = 'vm.console_opened' order by number`)
  const openSessions = (vmId: string) => app.db.many(sql`select from console_sessions where vm_id = ${vmId}`)

  test('returns a URL that connects to the console for output and input', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const { status, headers, body } = await ask(customer, id)
    expect(status).toBe(201)
    expect(body.data).toEqual({
      url: expect.stringMatching(/^ws:\/\/localhost\/consoles\/vmc_\w{46}$/),
      expiresAt: new Date(app.clock.now().getTime() + 60_000).toISOString(),
    })
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-ratelimit-limit': expect.any(String) })
    const client = connect(new URL(body.data.url as string).pathname)
    expect(await client.opened).toBe(true)
    await expect.poll(client.text, TIMEOUT).toContain('web-1 login: ')
    client.socket.send('root\r')
    await expect.poll(client.text, TIMEOUT).toContain('root\r\nThis VM is simulated')
    client.socket.close()
    await expect.poll(() => openSessions(id), TIMEOUT).toEqual([])
  })

  test("stores only a hash of the URL's secret", async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const secret = (await link(customer, id)).split('/').at(-1)!
    const [row] = await app.db.many<{ text: string }>(sql`select l::text as text from console_tokens l where vm_id = ${id}`)
    expect(row!.text).not.toContain(secret.slice(4, 20))
    expect(row!.text).not.toContain(Buffer.from(secret).toString('hex'))
  })

  test('speaks the noVNC subprotocol and returns the request id', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = connect(await link(customer, id), { protocols: ['base64', 'binary'] })
    const [response] = (await once(client.socket, 'upgrade')) as [{ headers: Record<string, string> }]
    expect(await client.opened).toBe(true)
    expect(client.socket.protocol).toBe('binary')
    expect(response.headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-ratelimit-limit': '100' })
    client.socket.terminate()
  })

  test.each(['evil.example', 'evil.example:8080', '198.51.100.7', 'localhost.evil.example'])(
    'does not lead to the Host %s that a request names',
    async (host) => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const forged = await sendOverSocket(port, `/vms/${id}/console`, { token: customer.token, host, body: { type: 'serial' } })
      expect(forged.body).toMatchObject({ data: { url: expect.stringContaining(`ws://127.0.0.1:${port}/consoles/vmc_`) } })
    },
  )

  test.each(['127.0.0.1', 'localhost'])('leads to the Host %s, which is this machine', async (name) => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const own = await sendOverSocket(port, `/vms/${id}/console`, {
      token: customer.token,
      host: `${name}:${port}`,
      body: { type: 'serial' },
    })
    expect(own.body).toMatchObject({ data: { url: expect.stringContaining(`ws://${name}:${port}/consoles/vmc_`) } })
  })

  test.each(['[', 'a b', 'x/y', 'me@localhost', 'localhost:99999', '%'])('is refused for the malformed Host %j', async (host) => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const { status, code } = await sendOverSocket(port, `/vms/${id}/console`, { token: customer.token, host, body: { type: 'serial' } })
    expect([status, code]).toEqual([400, 'validation_failed'])
  })

  describe('is refused', () => {
    test('for a VM that is not running', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const path = await link(customer, id)
      await customer.post(`/vms/${id}/stop`)
      await app.settle({ subjectId: id })
      const { status, headers, body } = await ask(customer, id)
      expect([status, headers['x-error-code'], body.error]).toEqual([409, 'invalid_state', 'VM must be RUNNING to console; it is STOPPED'])
      expect(await connect(path).refused).toMatchObject({ status: 409, code: 'invalid_state' })
    })

    test('for a console type that the host does not offer, with the reason', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const { status, headers, body } = await ask(customer, id, 'vnc')
      expect([status, headers['x-error-code']]).toEqual([422, 'incompatible'])
      expect(body.error).toBe('The host of this VM has no vnc console. It offers: serial')
      expect((await ask(customer, id, 'telnet')).status).toBe(400)
    })

    test('while the host is unreachable', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const path = await link(customer, id)
      await app.db.run(sql`update simulated.hosts set is_gone = true`)
      const { status, body } = await ask(customer, id)
      const refused = await connect(path).refused
      await app.db.run(sql`update simulated.hosts set is_gone = false`)
      expect([status, body.error]).toEqual([503, expect.stringContaining('The host of this VM is unreachable: try again when it answers')])
      expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
      expect(await events(id)).toEqual([])
    })

    test('for the VM of another account', async () => {
      const { id } = await app.given.vm(await rich())
      const [foreign, unknown] = [await ask(await rich(), id), await ask(await rich(), 'cunknown1')]
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body])
    })

    test('above ten consoles per account, unless it takes over one of them', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const { id: other } = await app.given.vm(customer)
      const [path, first, second] = [await link(customer, other), await link(customer, id), await link(customer, id)]
      const client = connect(first)
      expect(await client.opened).toBe(true)
      await app.db.tx(async (tx) => {
        await tx.raw('set local session_replication_role = replica') // skips the foreign key: these VMs do not exist
        await tx.run(sql`
          insert into console_sessions select 'cother' || n, 'serial', 'csession' || n, ${customer.accountId}, ${app.clock.now()}, ${app.clock.now()}::timestamptz + interval '20 seconds'
          from generate_series(1, 9) n`)
      })
      const { status, headers, body } = await ask(customer, other)
      expect([status, headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
      expect(body.error).toBe('Quota exceeded: 10 consoles of this account are open. Close one first')
      expect(await connect(path).refused).toMatchObject({ status: 422, code: 'quota_exceeded' })
      const newer = connect(second)
      expect(await newer.opened).toBe(true)
      app.clock.advance('21s')
      expect((await ask(customer, other)).status).toBe(201)
      newer.socket.terminate()
      await pruneConsoles.runOnce(app.deps)
    })
  })

  describe('returns a URL that', () => {
    test('works once', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const path = await link(customer, id)
      const client = connect(path)
      expect(await client.opened).toBe(true)
      expect(await connect(path).refused).toMatchObject({
        status: 401,
        code: 'unauthorized',
        error: 'This console URL has been used: ask for a new one',
        headers: { 'x-ratelimit-limit': '100', 'x-request-id': expect.any(String) },
      })
      expect(client.socket.readyState).toBe(WebSocket.OPEN)
      client.socket.terminate()
    })

    test('works for exactly one of twenty concurrent clients', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const path = await link(customer, id)
      const clients = Array.from({ length: 20 }, () => connect(path))
      const outcomes = await Promise.all(clients.map(({ opened }) => opened))
      expect(outcomes.filter(Boolean)).toHaveLength(1)
      expect(await events(id)).toHaveLength(1)
      clients.forEach(({ socket }) => socket.terminate())
    })

    test('expires after a minute and is pruned after an hour', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const path = await link(customer, id)
      app.clock.advance('60s')
      await pruneConsoles.runOnce(app.deps)
      expect(await connect(path).refused).toMatchObject({ status: 401, error: 'This console URL has expired: ask for a new one' })
      app.clock.advance('61m')
      await pruneConsoles.runOnce(app.deps)
      expect(await connect(path).refused).toMatchObject({ status: 401, error: 'This console URL is not known' })
    })

    test('cannot be guessed, and attempts are rate limited', async () => {
      expect(await connect('/consoles/vmc_guess').refused).toMatchObject({ status: 401, error: 'This console URL is not known' })
      const guess = () => new WebSocket(`ws://127.0.0.1:${port}/consoles/vmc_guess`, { localAddress: '127.0.2.1' }).on('error', () => {})
      const status = async (): Promise<number> => {
        const [, response] = (await once(guess(), 'unexpected-response')) as [unknown, { statusCode: number }]
        return response.statusCode
      }
      const statuses: number[] = []
      for (let i = 0; i < 102; i++) statuses.push(await status())
      expect(statuses.slice(-3)).toEqual([401, 429, 429])
    })

    test('is not consumed by a plain HTTP request or by another origin', async () => {
      const customer = await rich()
      const { id } = await app.given.vm(customer)
      const path = await link(customer, id)
      const looked = await fetch(`http://127.0.0.1:${port}${path}`)
      expect([looked.status, await looked.json()]).toEqual([
        400,
        { success: false, error: 'This address is one of a WebSocket: open it with a WebSocket client' },
      ])
      for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${port + 1}`])
        expect(await connect(path, { origin }).refused).toMatchObject({ status: 403, code: 'origin_not_allowed' })
      const client = connect(path, { origin: `http://127.0.0.1:${port}` })
      expect(await client.opened).toBe(true)
      client.socket.terminate()
    })
  })
})
