import { neverFails } from './fuzz-cases.ts'

await neverFails(6, 1)
