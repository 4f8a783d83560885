import type { Db, Queries } from '../src/kernel/database/db.ts'

/** Counts statements. */
export function counting(db: Db): { db: Db; statements: () => number } {
  let statements = 0
  const counted = <Q extends Queries>(queries: Q): Q => {
    const count =
      <A extends unknown[], R>(ask: (...args: A) => R) =>
      (...args: A): R => {
        statements++
        return ask(...args)
      }
    const { many, maybe, one, run, raw } = queries
    return { ...queries, many: count(many), maybe: count(maybe), one: count(one), run: count(run), raw: count(raw) }
  }
  return { db: { ...counted(db), tx: (work) => db.tx((tx) => work(counted(tx))) }, statements: () => statements }
}
