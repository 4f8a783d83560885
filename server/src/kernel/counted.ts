/** "1 VM", "2 VMs", "0 VMs". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
