/**
 * The browser's half of RSA blind signatures, RSABSSA-SHA384-PSS-Randomized of RFC 9474: a number that the server signs without seeing it.
 * The server's half, and the reasons, are in docs/privacy.md.
 */

const EXPONENT = 65537n;
const PREFIX_BYTES = 32;
const SALT_BYTES = 48;
const HASH_BYTES = 48;

const random = (length) => crypto.getRandomValues(new Uint8Array(length));
const sha384 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-384", joined(...parts)));
const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const toNumber = (bytes) => BigInt(`0x${toHex(bytes)}`);

function joined(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}

function toBytes(number, length) {
  const digits = number.toString(16).padStart(2 * length, "0");
  return Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
}

export const toText = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

export function fromText(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}

function power(base, exponent, modulus) {
  let result = 1n;
  for (let rest = exponent, square = base % modulus; rest > 0n; rest >>= 1n, square = (square * square) % modulus) {
    if (rest & 1n) result = (result * square) % modulus;
  }
  return result;
}

/** The inverse of a number; null if it has none. */
function inverse(number, modulus) {
  let [one, other, mine, its] = [number % modulus, modulus, 1n, 0n];
  while (other) {
    const times = one / other;
    [one, other, mine, its] = [other, one - times * other, its, mine - times * its];
  }
  return one === 1n ? ((mine % modulus) + modulus) % modulus : null;
}

/** A number from 1 to below the modulus, each as likely as every other. */
function below(modulus, length) {
  for (;;) {
    const drawn = toNumber(random(length));
    if (drawn > 0n && drawn < modulus) return drawn;
  }
}

async function mask(seed, length) {
  const parts = [];
  for (let number = 0; number * HASH_BYTES < length; number += 1) parts.push(await sha384(seed, toBytes(BigInt(number), 4)));
  return joined(...parts).slice(0, length);
}

/** EMSA-PSS-ENCODE of RFC 8017, 9.1.1. */
async function encoded(message, bits, salt) {
  const length = Math.ceil((bits - 1) / 8);
  const hashed = await sha384(new Uint8Array(8), await sha384(message), salt);
  const data = joined(new Uint8Array(length - HASH_BYTES - SALT_BYTES - 2), [1], salt);
  const over = await mask(hashed, data.length);
  const masked = data.map((byte, place) => byte ^ over[place]);
  masked[0] &= 0xff >> (8 * length - (bits - 1));
  return joined(masked, hashed, [0xbc]);
}

const isSigned = async (modulus, message, signature) => {
  const length = Math.ceil(modulus.toString(16).length / 2);
  const numbers = { kty: "RSA", alg: "PS384", n: toText(toBytes(modulus, length)), e: toText(toBytes(EXPONENT, 3)) };
  const key = await crypto.subtle.importKey("jwk", numbers, { name: "RSA-PSS", hash: "SHA-384" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "RSA-PSS", saltLength: SALT_BYTES }, key, signature, message);
};

/**
 * Begin a token for this study: what is sent to be signed, and `finish`, which makes the token of the answer, or throws if the answer
 * does not fit the key. `drawn` replaces the random numbers, for the standard's own examples.
 */
export async function begun(modulusInHex, words, drawn = {}) {
  const modulus = BigInt(`0x${modulusInHex}`);
  const length = Math.ceil(modulusInHex.length / 2);
  const prefix = drawn.prefix ?? random(PREFIX_BYTES);
  const message = joined(prefix, typeof words === "string" ? new TextEncoder().encode(words) : words);
  const hidden = toNumber(await encoded(message, modulus.toString(2).length, drawn.salt ?? random(SALT_BYTES)));
  let ours = drawn.inverse ? inverse(drawn.inverse, modulus) : below(modulus, length);
  let undo = inverse(ours, modulus);
  while (undo === null) undo = inverse((ours = below(modulus, length)), modulus);
  return {
    blinded: toBytes((hidden * power(ours, EXPONENT, modulus)) % modulus, length),
    async finish(signed) {
      const signature = toBytes((toNumber(signed) * undo) % modulus, length);
      if (!(await isSigned(modulus, message, signature))) throw new Error("The signature does not fit the key of this study.");
      return { token: `${toText(prefix)}.${toText(signature)}`, signature };
    },
  };
}
