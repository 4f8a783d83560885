// Answers many small questions with few statements: what is asked while enough batches are under way is asked together in the next one. A
// single question waits for nothing; under a flood the cost of each shrinks.

export interface CoalesceOptions {
  /** Batches at a time. */
  atATime: number
  /** Questions in one batch. */
  most: number
}

/** `answer` returns one result per question, in their order. When it fails, all questions of its batch do. */
export function coalesce<Question, Result>(
  answer: (questions: Question[]) => Promise<Result[]>,
  { atATime, most }: CoalesceOptions,
): (question: Question) => Promise<Result> {
  interface Waiting {
    question: Question
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  const waiting: Waiting[] = []
  let free = atATime
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most)
      try {
        const results = await answer(batch.map(({ question }) => question))
        batch.forEach(({ resolve }, i) => resolve(results[i]!))
      } catch (error) {
        batch.forEach(({ reject }) => reject(error))
      }
    }
    free++
  }
  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (free === 0) return
      free--
      queueMicrotask(work) // what is asked in this turn goes along
    })
}
