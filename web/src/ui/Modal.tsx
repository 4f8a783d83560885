import type { ModalProps } from '@mantine/core'
import { later } from './later/later.tsx'

export const Modal = later<ModalProps>(() => import('./later/modal.ts'))
