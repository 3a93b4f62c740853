import { AddressList, callerNetwork } from './address-list.js';

describe('AddressList', () => {
  it.each([
    ['10.0.0.0/8, 192.168.1.7', '10.200.3.4', true],
    ['10.0.0.0/8, 192.168.1.7', '192.168.1.7', true],
    ['10.0.0.0/8 192.168.1.7', '192.168.1.8', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:0a01:0203', true],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['::ffff:10.0.0.0/104', '11.9.9.9', false],
    ['2001:db8::/32', '2001:db8:1::7', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['[::1]', '::1', true],
    ['::1', '127.0.0.1', false],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['', '127.0.0.1', false],
    ['127.0.0.1', 'localhost', false],
  ])('%s and %s: %s', (list, address, expected) => {
    expect(AddressList.parse(list).contains(address)).toBe(expected);
  });

  it('contains no unknown peer', () => {
    expect(AddressList.parse('0.0.0.0/0').contains(undefined)).toBe(false);
  });

  it.each([
    ['proxy.example.org', 'is no address or network'],
    ['10.0.0', 'is no address or network'],
    ['10.0.0.0/8/8', 'is no address or network'],
    ['10.0.0.0/33', 'has no valid prefix length'],
    ['10.0.0.0/', 'has no valid prefix length'],
    ['::/129', 'has no valid prefix length'],
    ['::ffff:10.0.0.0/64', 'has no valid prefix length'],
  ])('refuses %s', (entry, problem) => {
    expect(() => AddressList.parse(`127.0.0.1,${entry}`)).toThrow(`"${entry}" ${problem}`);
  });
});

describe('a caller', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001::2:3:4:5:6:7', '2001:0:2:3::/64'],
    ['64:ff9b::1.2.3.4', '1.2.3.4'],
    ['64:FF9B::cb00:7107', '203.0.113.7'],
    ['64:ff9b::7107', '64:ff9b:0:0::/64'],
    ['64:ff9b:1::cb00:7107', '64:ff9b:1:0::/64'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('at %s is %s', (address, network) => {
    expect(callerNetwork(address)).toBe(network);
  });
});
