/** A decimal number as digits and how many of them stand behind the point, without zeros at its end: 0.10 is {1n, 1}. */
export interface Decimal {
  digits: bigint;
  behind: number;
}

/** The number that a number of JSON or a text of digits writes. */
export function decimalOf(value: number | string): Decimal {
  const [, sign = '', whole = '0', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(String(value)) ?? [];
  const decimals = part.replace(/(?<!0)0+$/, '');
  const behind = decimals.length - Number(power);
  const digits = BigInt(`${sign}${whole}${decimals}`);
  return behind < 0 ? { digits: digits * 10n ** BigInt(-behind), behind: 0 } : { digits, behind };
}

/** The double that is nearest to it. */
export function numberOfDecimal({ digits, behind }: Decimal): number {
  return Number(`${digits}e-${behind}`);
}

/** `start`, `start + step`, `start + 2 step` …: exact, as people add decimals. */
export function* decimalSteps(start: Decimal, step: Decimal): Generator<string> {
  const behind = Math.max(start.behind, step.behind);
  const scaled = (of: Decimal): bigint => of.digits * 10n ** BigInt(behind - of.behind);
  const distance = scaled(step);
  for (let digits = scaled(start); ; digits += distance) yield textOf({ digits, behind });
}

function textOf({ digits, behind }: Decimal): string {
  if (behind === 0) return String(digits);
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(behind + 1, '0');
  const part = text.slice(-behind).replace(/(?<!0)0+$/, '');
  const whole = `${sign}${text.slice(0, -behind)}`;
  return part === '' ? whole : `${whole}.${part}`;
}
