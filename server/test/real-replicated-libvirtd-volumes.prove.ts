import { describeVolumes, LIBVIRTD } from './real-replicated-crash.ts'

describeVolumes(LIBVIRTD)
