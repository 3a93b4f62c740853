const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const NUMBER = new Intl.NumberFormat('en');
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** `1.5 MB` */
export function bytes(size: number): string {
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `12,345` */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** `1 file`, `2 files` */
export function plural(value: number, word: string): string {
  const many = word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
  return `${count(value)} ${value === 1 ? word : many}`;
}

/** `3 minutes ago` */
export function ago(time: string): string {
  const seconds = (Date.parse(time) - Date.now()) / 1000;
  const [unit, length] = STEPS.find(([, size]) => -seconds >= size) ?? ['second', 1];
  if (unit === 'second' && seconds > -10) return 'just now';
  return RELATIVE.format(Math.round(seconds / length), unit);
}

/** Date and time as this browser writes them. */
export function moment(time: string): string {
  return new Date(time).toLocaleString();
}
