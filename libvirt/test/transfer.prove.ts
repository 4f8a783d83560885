import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillHoles, Hole, Host } from '../src/index.ts'
import type { Named } from '../src/index.ts'
import type { Sandbox } from './sandboxed-libvirtd.ts'
import type { Sandboxes } from './sandbox-fleet.ts'
import { missingForSandbox } from './command.ts'
import { describeIf } from './describe-if.ts'
import { bootedTerminal, openSandboxes, startGuest, startPool } from './fixture.ts'

const MiB = 1024 * 1024

describeIf(missingForSandbox())('data to and from a real libvirtd', () => {
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  beforeAll(async () => void ({ sandboxes, sandbox } = await openSandboxes(1)), 120_000)
  afterAll(() => sandboxes.close())

  describe.each(['unix', 'tls'] as const)('over %s', (kind) => {
    let host: Host
    let pool: Named
    beforeAll(async () => {
      host = await new Host({ endpoint: sandboxes[kind](sandbox) }).whenUp()
      pool = await startPool(host, `pool-${kind}`)
    })
    afterAll(() => host.close())

    const create = (name: string, bytes: number) =>
      host.volumes.create({ pool, xml: `<volume><name>${name}</name><capacity>${bytes}</capacity><allocation>0</allocation></volume>` })

    test('64 MiB up and down are the same', async () => {
      const volume = await create('big', 64 * MiB)
      const chunks = Array.from({ length: 64 }, () => randomBytes(MiB))
      await pipeline(Readable.from(chunks), await host.volumes.upload({ volume }))
      const hash = hashOf(chunks)
      const [onDisk] = (await sandbox.inside('sha256sum', volume.key)).split(' ')
      expect(onDisk).toBe(hash)
      const down = createHash('sha256')
      await pipeline(await host.volumes.download({ volume }), down)
      expect(down.digest('hex')).toBe(hash)
    })

    test('holes stay holes, both ways', async () => {
      const volume = await create('holes', 64 * MiB)
      const data = randomBytes(MiB)
      await pipeline([data, new Hole(BigInt(62 * MiB)), data], await host.volumes.upload({ volume, flags: ['sparse'] }))
      expect((await host.volumes.getInfo({ volume })).allocation).toBeLessThan(BigInt(4 * MiB))
      const pieces = (await (await host.volumes.download({ volume, flags: ['sparse'] })).toArray()) as (Buffer | Hole)[]
      expect(pieces.filter((piece) => piece instanceof Hole)).toEqual([new Hole(BigInt(62 * MiB))])
      const filled = createHash('sha256')
      await pipeline(await host.volumes.download({ volume, flags: ['sparse'] }), fillHoles, filled)
      expect(filled.digest('hex')).toBe(hashOf([data, Buffer.alloc(62 * MiB), data]))
    })

    test('a part of a volume', async () => {
      const volume = await create('part', MiB)
      await pipeline(Readable.from([Buffer.from('in the middle')]), await host.volumes.upload({ volume, offset: 1000n, length: 13n }))
      expect((await buffer(await host.volumes.download({ volume, offset: 1003n, length: 10n }))).toString()).toBe('the middle')
    })

    test('an upload that does not fit fails, a download that is dropped leaves the host well', async () => {
      const volume = await create('small', MiB)
      const tooMuch = Readable.from(Array.from({ length: 3 }, () => randomBytes(MiB)))
      await expect(pipeline(tooMuch, await host.volumes.upload({ volume, length: BigInt(MiB) }))).rejects.toMatchObject({
        name: 'RemoteError',
      })
      const dropped = await host.volumes.download({ volume: await host.volumes.lookupByName({ pool, name: 'big' }) })
      await once(dropped, 'readable')
      dropped.destroy()
      expect(await host.connect.getHostname()).toBe('h1')
    })

    test('a console session: read, type, see it echoed, be taken over, hang up', async () => {
      const guest = await startGuest(host, sandboxes, { name: `console-${kind}` })
      const terminal = await bootedTerminal(host, guest)
      terminal.write('hello, guest')
      await terminal.hears('hello, guest')
      const takenOver = new Promise((resolve) => terminal.stream.once('close', resolve))
      const second = await bootedTerminalAgain(guest)
      await takenOver
      second.stream.end()
      await once(second.stream, 'close')
      const picture = await host.domains.screenshot({ domain: guest })
      const image = await buffer(picture)
      expect([picture.reply, image.length > 1000]).toEqual([expect.stringMatching(/^image\/(png|x-portable-pixmap)$/), true])
      await host.domains.destroy({ domain: guest })
    })

    async function bootedTerminalAgain(guest: Parameters<typeof bootedTerminal>[1]) {
      await host.domains.reset({ domain: guest })
      return bootedTerminal(host, guest)
    }
  })
})

function hashOf(chunks: Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
