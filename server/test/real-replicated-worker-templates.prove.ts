import { describeProvisioning, WORKER } from './real-replicated-crash.ts'

describeProvisioning(WORKER)
