import { describe, expect, it } from '@jest/globals';
import { nameHashes } from './name-hash.js';

describe('nameHashes', () => {
  // As printed by `openssl x509 -subject_hash -subject_hash_old` of OpenSSL 3.0 for certificates with these names.
  it.each([
    [
      'blanks and capitals: /DC=org/DC=Grid/O=Some  Lab/CN= Test CA ',
      '305331133011060a0992268993f22c64011916036f726731143012060a0992268993f22c64011916044772696431123010060355040a0c09536f6d6520204c61623112301006035504030c09205465737420434120',
      ['5a9671d1', '3f10e401'],
    ],
    [
      'UTF-8 and a part of two attributes: /C=DE/O=Größe GmbH/OU=Multi+CN=Ärzte CA',
      '3046310b300906035504061302444531153013060355040a0c0c4772c3b6c39f6520476d62483120300c060355040b0c054d756c7469301006035504030c09c384727a7465204341',
      ['67e0b6ba', '64e14d79'],
    ],
    [
      'an IA5String: /C=US/O=X/CN=CA/emailAddress=Ca@Example.ORG',
      '3045310b3009060355040613025553310a3008060355040a0c0158310b300906035504030c024341311d301b06092a864886f70d010901160e4361404578616d706c652e4f5247',
      ['6af12c85', 'bd8bb168'],
    ],
  ])('are those of OpenSSL for %s', (_name, der, hashes) => {
    expect(nameHashes(Buffer.from(der, 'hex'))).toEqual(hashes);
  });
});
