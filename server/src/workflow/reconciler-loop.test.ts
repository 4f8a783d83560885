import { afterAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../test/harness.ts'
import { openDb } from '../kernel/database/db.ts'
import { createLog } from '../kernel/log.ts'
import { createMetrics } from '../kernel/metrics.ts'
import {
  listenForTriggers,
  keyedReconcilersFor,
  triggerReconciler,
  reconcilersFor,
  startReconcilers,
  type Reconciler,
  type Reconcilers,
} from './reconciler-loop.ts'

const deps = { log: createLog({ level: 'silent', pretty: false }), metrics: createMetrics() }
type Deps = typeof deps

const reconciler = reconcilersFor<Deps>()
const keyedReconciler = keyedReconcilersFor<Deps>()

/** Blocks work until the test opens it. */
function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open: () => open(), opened }
}

describe('reconcilers', async () => {
  const running: Reconcilers[] = []
  const start = (...reconcilers: Reconciler<Deps>[]): Reconcilers => {
    const started = startReconcilers(deps, reconcilers)
    running.push(started)
    return started
  }
  afterAll(() => Promise.all(running.map((each) => each.stop())))

  test('run again after a failed run', async () => {
    let passes = 0
    const loops = start(
      reconciler('failing', '1h', async () => {
        passes++
        throw new Error('planted')
      }),
    )
    await expect.poll(() => passes).toBe(1)
    loops.trigger('failing')
    await expect.poll(() => passes).toBe(2)
  })

  test('are triggered when the transaction commits, and only then', async () => {
    const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
    let passes = 0
    const loops = start(reconciler('triggered', '1h', async () => void passes++))
    const deafen = await listenForTriggers(db, loops)
    await expect.poll(() => passes).toBe(1)
    const rolledBack = db.tx(async (tx) => {
      await triggerReconciler(tx, 'triggered')
      throw new Error('changed my mind')
    })
    await expect(rolledBack).rejects.toThrow('changed my mind')
    await db.tx((tx) => triggerReconciler(tx, 'triggered'))
    await expect.poll(() => passes).toBe(2)
    await deafen()
    await db.close()
  })

  test('run keys concurrently, and each key once at a time', async () => {
    const slow = gate()
    const passes: string[] = []
    const loops = start(
      keyedReconciler('keyed', '1h', {
        busy: async () => ['slow', 'quick'],
        runOnce: async (_, key) => {
          passes.push(key)
          if (key === 'slow') await slow.opened
        },
      }),
    )
    await expect.poll(() => passes).toEqual(['slow', 'quick'])
    loops.trigger('keyed')
    await expect.poll(() => passes).toEqual(['slow', 'quick', 'quick'])
    slow.open()
    await expect.poll(() => passes.filter((key) => key === 'slow')).toHaveLength(2)
  })

  test('abort running keys on stop and wait for them', async () => {
    let ended = false
    const begun = gate()
    const loops = start(
      keyedReconciler('stopping', '1h', {
        busy: async () => ['one'],
        runOnce: async (_, __, signal) => {
          begun.open()
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          ended = true
        },
      }),
    )
    await begun.opened
    await loops.stop()
    expect(ended).toBe(true)
  })

  test('may keep working between runs, trigger themselves, and are stopped', async () => {
    const passes: string[] = []
    let askAgain = (): void => {}
    const loops = start({
      name: 'open',
      everyMs: 3_600_000,
      runOnce: async () => void passes.push('never'),
      open: (_, again) => {
        askAgain = again
        return { runOnce: async () => void passes.push('pass'), stop: async () => void passes.push('stop') }
      },
    })
    await expect.poll(() => passes).toEqual(['pass'])
    askAgain()
    await expect.poll(() => passes).toEqual(['pass', 'pass'])
    await loops.stop()
    askAgain()
    expect(passes).toEqual(['pass', 'pass', 'stop'])
  })
})
