import { expect, test } from 'vitest'
import type { NetworkController } from './network-controller.ts'
import { createNetworkControllerPool } from './network-controller-pool.ts'

test('those who ask in the same moment share a look at where the controller is; the next one looks again', async () => {
  const looks: string[] = []
  let uri = 'unix:/one'
  const pool = createNetworkControllerPool({
    lookup: (regionId) => (looks.push(regionId), Promise.resolve(uri)),
    open: (_, opened) => Promise.resolve({ opened, close: () => Promise.resolve() } as unknown as NetworkController),
  })
  const first = await Promise.all(['a', 'a', 'b', 'a'].map((regionId) => pool.get(regionId)))
  expect(looks).toEqual(['a', 'b'])
  expect(first[0]).toBe(first[3])
  expect(first[0]).not.toBe(first[2])

  uri = 'unix:/two'
  expect(await pool.get('a')).toMatchObject({ opened: 'unix:/two' })
  expect(looks).toEqual(['a', 'b', 'a'])
})

test('a look that fails is made again', async () => {
  let isAway = true
  const controller = { close: () => Promise.resolve() } as unknown as NetworkController
  const pool = createNetworkControllerPool({
    lookup: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(null)),
    open: () => Promise.resolve(controller),
  })
  await expect(pool.get('a')).rejects.toThrow('away')
  isAway = false
  expect(await pool.get('a')).toBe(controller)
})
