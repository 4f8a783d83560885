import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { askGuests, type DueGuest } from './guest-turns.ts'

describe('guests that do not let a run end', () => {
  const guest = (vmId: string): DueGuest => ({ vmId, payerId: vmId, isSilent: false })
  const answers: PromiseWithResolvers<boolean>[] = []
  const asked: string[] = []
  let due: string[] = []

  /** `slow` answers when the test has it answer, `broken` stays due. */
  const ask = async ({ vmId }: DueGuest): Promise<boolean> => {
    asked.push(vmId)
    const answer = Promise.withResolvers<boolean>()
    if (vmId === 'slow') answers.push(answer)
    else answer.resolve(vmId !== 'broken')
    const isDone = await answer.promise
    if (isDone) due = due.filter((other) => other !== vmId)
    return isDone
  }
  const begin = (...first: string[]) => {
    due = first
    return askGuests(() => Promise.resolve(due.map(guest)), ask)
  }

  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => {
    vi.useRealTimers()
    for (const list of [answers, asked]) list.splice(0)
  })

  test('keep nobody from being asked who becomes due after minutes', async () => {
    const run = begin('slow')
    await expect.poll(() => asked).toEqual(['slow'])
    vi.advanceTimersByTime(120_000)
    due = [...due, 'other']
    await expect.poll(() => asked, { timeout: 3_000 }).toEqual(['slow', 'other'])
    answers[0]!.resolve(true)
    await run
  })

  test('keep nobody from being asked again who failed a minute ago', async () => {
    const run = begin('slow', 'broken')
    await expect.poll(() => asked).toEqual(['slow', 'broken'])
    vi.advanceTimersByTime(61_000)
    await expect.poll(() => asked, { timeout: 3_000 }).toEqual(['slow', 'broken', 'broken'])
    answers[0]!.resolve(true)
    await run
    expect(due).toEqual(['broken'])
  })
})
