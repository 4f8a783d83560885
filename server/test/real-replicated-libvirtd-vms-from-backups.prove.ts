import { describeVmsFromBackups, LIBVIRTD } from './real-replicated-crash.ts'

describeVmsFromBackups(LIBVIRTD)
