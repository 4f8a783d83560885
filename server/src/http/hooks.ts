// Hooks run for every request. One that seldom has to wait is written with a callback, which costs the others nothing.

export async function toCallback(work: Promise<unknown>, done: (error: Error | null) => void): Promise<void> {
  const error = await work.then(
    () => null,
    (reason: Error) => reason,
  )
  done(error)
}
