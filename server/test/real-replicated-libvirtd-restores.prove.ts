import { describeRestores, LIBVIRTD } from './real-replicated-crash.ts'

describeRestores(LIBVIRTD)
