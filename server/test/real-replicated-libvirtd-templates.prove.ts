import { describeProvisioning, LIBVIRTD } from './real-replicated-crash.ts'

describeProvisioning(LIBVIRTD)
