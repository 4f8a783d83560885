import { describeRestores, WORKER } from './real-replicated-crash.ts'

describeRestores(WORKER)
