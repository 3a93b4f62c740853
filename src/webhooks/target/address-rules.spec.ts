import { AddressRules } from './address-rules.js';

const rules = new AddressRules([]);

describe('addresses of receivers', () => {
  it.each([
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '0.1.2.3',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::',
    '64:ff9b::a00:0',
    '64:ff9b::1',
    '64:ff9b:1::8.8.8.8',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '4000::1',
    '100::1',
    '5f00::1',
    '',
    'localhost',
    '127.1',
    '2130706433',
  ])('%s is refused', (address) => {
    expect(rules.allows(address)).toBe(false);
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '193.0.6.139',
    '168.63.129.17',
    '2001:4860:4860::8888',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '64:ff9b::8.8.8.8',
    '64:ff9b::808:808',
  ])('%s is allowed', (address) => {
    expect(rules.allows(address)).toBe(true);
  });

  it('has exceptions, in every notation of them, and nothing beside', () => {
    const some = new AddressRules(['127.0.0.1', '10.1.0.0/16', 'fd00:1::/32']);
    const asked = ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd00:1::5'];
    expect(asked.map((address) => some.allows(address))).toEqual([true, true, true, true]);
    const others = ['127.0.0.2', '10.2.0.1', '64:ff9b::127.0.0.1', 'fd00:2::5', undefined];
    expect(others.map((address) => some.allows(address))).toEqual(others.map(() => false));
  });

  it('refuses an exception that is a name', () => {
    expect(() => new AddressRules(['receiver.example'])).toThrow('is no address or network');
  });
});
