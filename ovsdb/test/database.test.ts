import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority } from '../../libvirt/test/certificates.ts'
import { missingCommands } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { Database, tcp, tls, unix } from '../src/index.ts'
import { comment, freePorts, insert, mutate, remove, select, Servers, update, wait, type Server, type Tables } from './server.ts'

describeIf(missingCommands('ovsdb-server', 'ovsdb-tool', 'openssl'))('a database on one server', { timeout: 60_000 }, () => {
  let servers: Servers
  let server: Server
  let db: Database<Tables>
  beforeAll(async () => {
    servers = await Servers.open()
    server = await servers.single()
    db = servers.connect([server])
  })
  afterAll(() => servers?.close())

  const full = {
    size: -3,
    ratio: 0.5,
    enabled: true,
    note: 'a "quoted" {note}',
    tags: ['a', 'b'],
    ids: { owner: 'x', 'berth-id': 'y' },
    numbers: { 7: 1, 8: 2 },
  }

  test('values of every type come back as they were written', async () => {
    const [port, made] = await db.transact([
      insert('Port', { name: 'p' }, 'port'),
      insert('Switch', { name: 'full', ...full, ports: [{ ref: 'port' }], first: { ref: 'port' } }),
      comment('for the log'),
    ])
    const [{ rows } = {}] = await db.transact([select('Switch', [['_uuid', '==', made!.uuid!]])])
    expect(rows).toHaveLength(1)
    const { tags, ...rest } = rows![0]!
    const { tags: _, ...written } = full
    expect([...(tags as string[])].sort()).toEqual(['a', 'b'])
    expect(rest).toMatchObject({ ...written, name: 'full', _uuid: made!.uuid, ports: [port!.uuid], first: port!.uuid })
  })

  test('the default of every type is its empty value', async () => {
    await db.transact([insert('Switch', { name: 'empty' })])
    const columns = ['size', 'note', 'tags', 'ids', 'numbers', 'ports', 'first'] as const
    const [result] = await db.transact([select('Switch', [['name', '==', 'empty']], columns)])
    expect(result).toEqual({ rows: [{ size: 0, note: null, tags: [], ids: {}, numbers: {}, ports: [], first: null }] })
  })

  test('update, mutate and delete answer how many rows they changed', async () => {
    await db.transact([insert('Switch', { name: 'm1', size: 1 }), insert('Switch', { name: 'm2', size: 1 })])
    const results = await db.transact([
      update('Switch', [['name', '==', 'm1']], { note: 'n', ids: { a: '1', b: '2' }, tags: ['x'] }),
      mutate(
        'Switch',
        [['name', '==', 'm1']],
        [
          ['size', '+=', 41],
          ['tags', 'insert', ['y', 'z']],
          ['tags', 'delete', 'x'],
          ['ids', 'delete', ['a']],
          ['ids', 'insert', { c: '3' }],
        ],
      ),
      remove('Switch', [['name', '==', 'm2']]),
      select('Switch', [['ids', 'includes', { c: '3' }]], ['size', 'tags', 'ids']),
    ])
    expect(results).toEqual([
      { count: 1 },
      { count: 1 },
      { count: 1 },
      { rows: [{ size: 42, tags: expect.toSatisfy((tags: string[]) => tags.toSorted().join() === 'y,z'), ids: { b: '2', c: '3' } }] },
    ])
    await db.transact([update('Switch', [['name', '==', 'm1']], { note: null })])
    expect(await db.transact([select('Switch', [['name', '==', 'm1']], ['note'])])).toEqual([{ rows: [{ note: null }] }])
  })

  test('a transaction of which one operation fails changes nothing, and says which', async () => {
    const failing = db.transact([
      insert('Switch', { name: 'rolled-back' }),
      wait('Switch', [['name', '==', 'nobody']], '==', [{ size: 5 }]),
      insert('Switch', { name: 'never' }),
    ])
    await expect(failing).rejects.toMatchObject({ name: 'RefusedError', code: 'timed out', operation: 1, outcome: 'refused' })
    expect(await db.transact([select('Switch', [['name', '==', 'rolled-back']])])).toEqual([{ rows: [] }])
  })

  test('a constraint that fails at the end is refused as a whole', async () => {
    await db.transact([insert('Switch', { name: 'twin' })])
    await expect(db.transact([insert('Switch', { name: 'twin' })])).rejects.toMatchObject({
      code: 'constraint violation',
      operation: null,
      outcome: 'refused',
    })
  })

  test('what does not fit the schema is refused before it is sent', async () => {
    const bad = (table: string, row: object) => db.transact([insert(table as 'Switch', row as never)])
    await expect(bad('Router', {})).rejects.toMatchObject({ name: 'SchemaError', outcome: 'not sent', message: /has no table Router/ })
    await expect(bad('Switch', { colour: 1 })).rejects.toThrow('Switch of Fixture 1.0.0 has no column colour')
    await expect(bad('Switch', { size: 'big' })).rejects.toThrow('Switch.size takes values of type integer, not "big"')
    await expect(bad('Switch', { name: null })).rejects.toThrow('Switch.name takes 1 value, not 0')
    await expect(bad('Switch', { ids: ['a'] })).rejects.toThrow('Switch.ids takes an object')
    await expect(bad('Switch', { ports: [7] })).rejects.toThrow('Switch.ports takes UUIDs, not 7')
  })

  test('a monitor has all rows at first, and then every change', async () => {
    await db.transact([insert('Switch', { name: 'seen', tags: ['a'], ids: { k: 'v' }, note: 'n' })])
    const changes: unknown[] = []
    const { tables, until } = await db.monitor({ Switch: ['name', 'tags', 'ids', 'note', 'size'] }, (list) => {
      changes.push(...list.filter(({ before, after }) => [before?.name, after?.name].includes('seen')))
    })
    const row = () => [...tables.Switch.values()].find(({ name }) => name === 'seen')
    expect(row()).toEqual({ name: 'seen', tags: ['a'], ids: { k: 'v' }, note: 'n', size: 0 })
    expect(changes).toMatchObject([{ table: 'Switch', before: null }])

    const here = [['name', '==', 'seen']] as const
    await db.transact([mutate('Switch', here, [['tags', 'insert', ['b', 'c']]]), update('Switch', here, { note: null, size: 9 })])
    await until('three tags', () => row()?.tags.length === 3, { timeoutMs: 5_000 })
    expect(row()).toMatchObject({ note: null, size: 9, ids: { k: 'v' } })
    await db.transact([
      mutate('Switch', here, [
        ['tags', 'delete', ['a', 'b']],
        ['ids', 'insert', { l: 'w' }],
      ]),
    ])
    await db.transact([update('Switch', here, { ids: { l: 'other' } })])
    await until('one key', () => row()?.ids['l'] === 'other', { timeoutMs: 5_000 })
    expect(row()).toMatchObject({ tags: ['c'], ids: { l: 'other' } })
    expect(changes.at(-1)).toMatchObject({ before: { ids: { l: 'w' } }, after: { ids: { l: 'other' } } })
    await db.transact([remove('Switch', here)])
    await until('no row', () => row() === undefined, { timeoutMs: 5_000 })
    expect(changes.at(-1)).toMatchObject({ before: { name: 'seen' }, after: null })
    await expect(until('a row again', () => row() !== undefined, { timeoutMs: 50 })).rejects.toThrow('a row again: not within 50 ms')
  })

  test('a monitor of a column that does not exist is refused, and leaves the others alone', async () => {
    await expect(db.monitor({ Switch: ['colour' as 'name'] })).rejects.toThrow('has no column colour')
    await db.transact([insert('Switch', { name: 'still-here' })])
  })

  test('a listener that throws is reported and stops nothing', async () => {
    const problems: Error[] = []
    const other = servers.connect([server], { onProblem: (error) => problems.push(error) })
    const { tables, until } = await other.monitor({ Switch: ['name'] }, () => {
      throw new Error('listener')
    })
    await other.transact([insert('Switch', { name: 'after-throw' })])
    await until('the row', () => [...tables.Switch.values()].some(({ name }) => name === 'after-throw'), { timeoutMs: 5_000 })
    expect(problems.map(({ message }) => message)).toContain('listener')
  })

  test('after a restart of the server the replica has what changed meanwhile, and listeners hear only of that', async () => {
    const own = await servers.single()
    const events: string[] = []
    const one = servers.connect([own], { onUp: () => events.push('up'), onDown: () => events.push('down') })
    await one.transact(['kept', 'changed', 'deleted'].map((name) => insert('Switch', { name })))
    const heard: string[] = []
    const { tables, until } = await one.monitor({ Switch: ['name', 'size'] }, (list) => {
      heard.push(...list.map(({ before, after }) => `${before?.name} -> ${after?.name}`))
    })
    heard.length = 0
    await own.kill()
    await expect(one.transact([select('Switch', [])], { timeoutMs: 300 })).rejects.toMatchObject({ outcome: 'not sent' })
    await own.start()
    const two = servers.connect([own])
    await two.transact([
      update('Switch', [['name', '==', 'changed']], { size: 1 }),
      remove('Switch', [['name', '==', 'deleted']]),
      insert('Switch', { name: 'new' }),
    ])
    const names = () => [...tables.Switch.values()].map(({ name }) => name).sort()
    await until('the new row', () => names().includes('new'), { timeoutMs: 10_000 })
    expect(names()).toEqual(['changed', 'kept', 'new'])
    expect(heard.sort()).toEqual(['changed -> changed', 'deleted -> undefined', 'undefined -> new'])
    await expect.poll(() => events).toEqual(['up', 'down', 'up'])
  })

  test('calls to a server that is not there are rejected soon, and at once while it stays away', async () => {
    const own = await servers.single()
    await own.kill()
    const one = servers.connect([own], { patienceMs: 3_000 })
    const fails = async (): Promise<number> => {
      const startedAt = performance.now()
      await expect(one.transact([select('Switch', [])])).rejects.toMatchObject({ name: 'ConnectionLostError', outcome: 'not sent' })
      return performance.now() - startedAt
    }
    expect(await fails()).toBeGreaterThan(2_000)
    expect(await fails()).toBeLessThan(500)
    await own.start()
    await expect
      .poll(
        () =>
          one.transact([insert('Switch', { name: 'there' })]).then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true)
    // A short outage is waited out.
    await own.kill()
    const changed = one.transact([insert('Switch', { name: 'again' })])
    await own.start()
    await changed
  })

  test('a frozen server is noticed, and used again when it wakes', async () => {
    const own = await servers.single()
    const reasons: string[] = []
    const one = servers.connect([own], { idleMs: 200, connectTimeoutMs: 300, onDown: ({ message }) => reasons.push(message) })
    await one.whenUp()
    own.signal('SIGSTOP')
    await expect.poll(() => reasons[0]).toBe('the server does not answer')
    own.signal('SIGCONT')
    await one.transact([insert('Switch', { name: 'awake' })])
  })

  test('an idle connection stays', async () => {
    const reasons: Error[] = []
    const one = servers.connect([server], { idleMs: 300, onDown: (reason) => reasons.push(reason) })
    await one.whenUp()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(reasons).toEqual([])
  })

  test('a transaction that waits is cancelled by its signal and by its deadline, and has no effect', async () => {
    const waiting = (name: string) => [
      wait('Switch', [['name', '==', 'absent']], '==', [{ name: 'absent' }], { timeoutMs: 20_000 }),
      insert('Switch', { name }),
    ]
    await expect(db.transact(waiting('too-late'), { timeoutMs: 100 })).rejects.toMatchObject({ name: 'TimeoutError', outcome: 'unknown' })
    const controller = new AbortController()
    const cancelled = db.transact(waiting('cancelled'), { signal: controller.signal })
    setTimeout(() => controller.abort(), 50)
    await expect(cancelled).rejects.toMatchObject({ name: 'CancelledError' })
    await expect(db.transact([], { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'CancelledError', outcome: 'not sent' })
    await db.transact([insert('Switch', { name: 'absent' })])
    const [{ rows } = {}] = await db.transact([select('Switch', [], ['name'])])
    const names = rows!.map(({ name }) => name)
    expect([names.includes('absent'), names.includes('too-late'), names.includes('cancelled')]).toEqual([true, false, false])
  })

  test('a database that is closed says so', async () => {
    const reasons: Error[] = []
    const one = servers.connect([server], { onDown: (reason) => reasons.push(reason) })
    await one.whenUp()
    one.close()
    await expect(one.transact([])).rejects.toThrow('the database was closed')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(reasons).toEqual([])
  })

  test('a server that has no such database, and a peer that speaks no OVSDB, are named in the error', async () => {
    const stranger = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as { port: number }
    const web = new Database<Tables>({ name: 'Fixture', endpoints: [tcp('127.0.0.1', port)] })
    await expect(web.whenUp({ timeoutMs: 500 })).rejects.toThrow(/not a JSON object/)
    const none = new Database<Tables>({ name: 'Nothing', endpoints: [unix(server.socket)] })
    await expect(none.whenUp({ timeoutMs: 500 })).rejects.toThrow(/unknown database/)
    web.close()
    none.close()
    stranger.close()
  })

  test('TLS: both sides show a certificate of the same authority', async () => {
    const authority = await createAuthority(servers.folder)
    await authority.issue('server', ['IP:127.0.0.1'])
    await writeFile(join(servers.folder, 'authority.pem'), authority.ca)
    const [port] = await freePorts(1)
    const files = ['--private-key', 'server.key', '--certificate', 'server.pem', '--ca-cert', 'authority.pem'].map((each) =>
      each.startsWith('--') ? each : join(servers.folder, each),
    )
    await servers.single(`--remote=pssl:${port}:127.0.0.1`, ...files)
    const open = (mine: { cert: string; key: string }, ca = authority.ca) =>
      new Database<Tables>({ name: 'Fixture', endpoints: [tls({ host: '127.0.0.1', port: port!, ca, ...mine })] })

    const client = await authority.issue('client', [])
    const trusted = open(client)
    await trusted.transact([insert('Switch', { name: 'over-tls', note: 'x'.repeat(300_000) })])
    trusted.close()

    const elsewhere = await createAuthority(await servers.subfolder('other'))
    const stranger = open(await elsewhere.issue('client', []))
    await expect(stranger.transact([insert('Switch', { name: 'intruder' })], { timeoutMs: 1_500 })).rejects.toMatchObject({
      outcome: 'not sent',
    })
    stranger.close()
    const misled = open(client, elsewhere.ca)
    await expect(misled.whenUp({ timeoutMs: 1_000 })).rejects.toThrow(/certificate/)
    misled.close()
  })
})
