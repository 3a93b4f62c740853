const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const NUMBER = new Intl.NumberFormat('en');
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** `1.5 MB`; sizes beyond 2^53 are bigint. */
export function bytes(size: number | bigint): string {
  let value = Number(size);
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

/** A time on an axis of that length, milliseconds: `14:05`, or with the day on long ones. */
export function clock(time: number, length: number): string {
  const isLong = length > 86_400_000;
  return new Date(time).toLocaleString(
    undefined,
    isLong
      ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }
      : { hour: '2-digit', minute: '2-digit' },
  );
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min` */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
