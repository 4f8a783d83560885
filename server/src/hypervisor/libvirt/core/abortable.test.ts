import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { abortable, keyedMutex } from './abortable.ts'

const patient = new AbortController().signal

describe('a keyed mutex', () => {
  test('runs one at a time per key, first come, first served', async () => {
    const alone = keyedMutex()
    const heard: string[] = []
    const work = (name: string) => async () => {
      heard.push(`${name} begins`)
      await nextTurn()
      heard.push(`${name} ends`)
    }
    await Promise.all([alone('a', patient, work('1')), alone('a', patient, work('2')), alone('b', patient, work('other'))])
    expect(heard.filter((each) => !each.startsWith('other'))).toEqual(['1 begins', '1 ends', '2 begins', '2 ends'])
    expect(heard.indexOf('other begins')).toBeLessThan(heard.indexOf('1 ends'))
  })

  test('is released by work that fails, and by a waiter that aborts', async () => {
    const alone = keyedMutex()
    const { promise: held, reject: fail } = Promise.withResolvers<void>()
    const impatient = new AbortController()
    const first = alone('a', patient, () => held)
    const second = alone('a', impatient.signal, () => Promise.reject(new Error('must not run')))
    const third = alone('a', patient, () => Promise.resolve('done'))
    impatient.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    fail(new Error('broken'))
    await expect(first).rejects.toThrow('broken')
    expect(await third).toBe('done')
  })
})

test('an abort rejects at once', async () => {
  const controller = new AbortController()
  const waiting = abortable(new Promise(() => undefined), controller.signal)
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(abortable(Promise.resolve(1), controller.signal)).rejects.toThrow('enough')
  expect(await abortable(Promise.resolve(1), patient)).toBe(1)
})
