import { describeVmsFromBackups, WORKER } from './real-replicated-crash.ts'

describeVmsFromBackups(WORKER)
