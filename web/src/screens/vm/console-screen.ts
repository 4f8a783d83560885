/** Tab belongs to the VM, so there is another way out. */
export const isLeaveKey = ({ ctrlKey, shiftKey, key }: KeyboardEvent): boolean => ctrlKey && shiftKey && key === 'Escape'
