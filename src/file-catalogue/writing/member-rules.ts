const MAX_SIZE = 2n ** 63n - 1n;
/** Bytes of the physical name of a replica. */
const MAX_PFN_BYTES = 4096;

/** Replicas of one line or request. */
export const MAX_REPLICAS = 1_000;
/** All bits of a mode: octal 777. */
export const MAX_MODE = 0o777;

/** A checksum, and a GUID. */
export const CHECKSUM = /^[A-Za-z0-9+/=_.:-]{1,128}$/;
/** The algorithm of a checksum. */
export const CHECKSUM_TYPE = /^[A-Za-z0-9_./-]{1,32}$/;

/** What is said of a member that is none of these. */
export const FAULTS = {
  text: 'is not a text',
  mode: 'is not a decimal number from 0 to 511 (octal 777)',
  size: 'is not a number of bytes (0 to 2^63-1)',
  pfn: 'is too long',
} as const;

/** True for mode bits. */
export function isMode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_MODE;
}

/** True for a number of bytes that the database can hold. */
export function isSize(value: unknown): value is number | bigint {
  if (typeof value === 'bigint') return value >= 0n && value <= MAX_SIZE;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** True for a physical name that is not too long. */
export function isPfn(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_PFN_BYTES;
}

/** The checksum as it is compared: Adler-32 is a number of 32 bits, often written without its leading zeros. */
export function bareChecksum(checksum: string, type: string): string {
  const text = checksum.toLowerCase();
  const isNumber = bareType(type) === 'adler32' && /^[0-9a-f]+$/.test(text);
  return isNumber ? text.replace(/^0+(?=.)/, '') : text;
}

/** The algorithm as it is compared: `Adler-32` and `ADLER32` are one. */
export function bareType(type: string): string {
  return type.toLowerCase().replaceAll('-', '');
}

/** The GUID as it is compared: a number of 128 bits, written with hyphens or without. */
export function bareGuid(guid: string): string {
  const text = guid.toLowerCase();
  const digits = text.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits) ? digits : text;
}

/** The algorithm that a checksum has when none is said. */
export function checksumTypeOf(
  checksum: string | undefined,
  given: string | undefined,
): string | undefined {
  return given ?? (checksum === undefined ? undefined : 'Adler32');
}
