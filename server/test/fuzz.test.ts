import { neverFails } from './fuzz-cases.ts'

await neverFails(15, 1)
