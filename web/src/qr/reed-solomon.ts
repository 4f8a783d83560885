// Codewords by which a reader mends what it could not see: Reed and Solomon's, over bytes modulo x⁸ + x⁴ + x³ + x² + 1.
function times(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d)
    product ^= ((b >>> bit) & 1) * a
  }
  return product
}

/** The product of (x − 2⁰)(x − 2¹)…, highest power first, without the leading one. */
function generator(degree: number): number[] {
  const factors: number[] = [...Array<number>(degree - 1).fill(0), 1]
  let root = 1
  for (let i = 0; i < degree; i++) {
    for (let at = 0; at < degree; at++) factors[at] = times(factors[at]!, root) ^ (factors[at + 1] ?? 0)
    root = times(root, 2)
  }
  return factors
}

/** What is left of the data when it is divided by the generator. */
export function correctionOf(data: readonly number[], count: number): number[] {
  const divisor = generator(count)
  const rest = Array<number>(count).fill(0)
  for (const codeword of data) {
    const factor = codeword ^ rest.shift()!
    rest.push(0)
    for (const [at, value] of divisor.entries()) rest[at] = rest[at]! ^ times(value, factor)
  }
  return rest
}
