/** A number between 0 and 1, neither of them included, from the browser's own entropy. */
export function anyNumber() {
  return (crypto.getRandomValues(new Uint32Array(1))[0] + 0.5) / 2 ** 32;
}
