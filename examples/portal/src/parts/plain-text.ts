/** Colours and movements of a terminal: the character that begins them cannot be written down here by itself. */
const SEQUENCES = /[^\P{Cc}\s]\[[0-9;?]{0,32}[A-Za-z]/gu;
/** What is no character at all, but tabs and ends of lines; `Cf` would turn the direction of all that follows. */
const UNSEEN = /[^\P{C}\t\n]/gu;

/** What a program has written, for a page: without commands to a terminal; of a line that it wrote over, the last state. */
export function plainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(SEQUENCES, '')
    .split('\n')
    .map((line) => line.slice(line.replace(/\r$/, '').lastIndexOf('\r') + 1))
    .join('\n')
    .replace(UNSEEN, '\ufffd');
}
