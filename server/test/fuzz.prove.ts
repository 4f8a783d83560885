import { systemClock } from '../src/kernel/clock.ts'
import { neverFails } from './fuzz-cases.ts'

await neverFails(150, systemClock.now().getTime() % 2 ** 31)
