import { hostOf, webhookUrl } from './webhook-url.js';

describe('URLs of receivers', () => {
  it.each([
    ['https://hooks.example/a?b=c', 'https://hooks.example/a?b=c', 'hooks.example'],
    ['HTTPS://Hooks.Example:8443', 'https://hooks.example:8443/', 'hooks.example'],
    ['https://2130706433/', 'https://127.0.0.1/', '127.0.0.1'],
    ['https://0x7f.1/', 'https://127.0.0.1/', '127.0.0.1'],
    ['https://0177.0.0.01/', 'https://127.0.0.1/', '127.0.0.1'],
    ['https://[::FFFF:127.0.0.1]/', 'https://[::ffff:7f00:1]/', '::ffff:7f00:1'],
    ['https://１２７.0.0.1/', 'https://127.0.0.1/', '127.0.0.1'],
  ])('%s is %s', (text, url, host) => {
    expect(webhookUrl(text)).toBe(url);
    expect(hostOf(url)).toBe(host);
  });

  it.each([
    '',
    'hooks.example',
    'http://hooks.example/',
    'file:///etc/passwd',
    'https://',
    'https://user@hooks.example/',
    'https://:secret@hooks.example/',
    'https://hooks.example/#x',
    'https://hooks.example:0/',
    'https://hooks.example:99999/',
    'https://hooks.example/a b',
    ' https://hooks.example/',
    'https://hooks.example/\r\nX: y',
    'https://hooks.exa\tmple/',
    'https://hooks.example/\u0000',
    `https://hooks.example/${'x'.repeat(2_048)}`,
  ])('%s is refused', (text) => {
    expect(webhookUrl(text)).toBeUndefined();
  });
});
