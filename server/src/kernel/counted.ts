/** "1 VM", "2 VMs", "0 VMs". */
export const counted = (count: number | bigint, one: string, many = `${one}s`): string => `${count} ${Number(count) === 1 ? one : many}`
