import { describeVolumes, WORKER } from './real-replicated-crash.ts'

describeVolumes(WORKER)
