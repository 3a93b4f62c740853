import 'reflect-metadata';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  webcrypto,
} from 'node:crypto';
import * as x509 from '@peculiar/x509';

const HOUR_MS = 3_600_000;
const CHAIN = 90;
const CURVE = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

let made;

/** Client certificates that cost whoever checks their signatures: {largeKey, largeExponent, chain}, each {cert, key}, PEM. */
export function costlyClients() {
  return (made ??= make());
}

async function make() {
  const issuer = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  return {
    largeKey: await issued(generateKeyPairSync('rsa', { modulusLength: 8_192 }).privateKey, issuer),
    largeExponent: await issued(keyWithLargeExponent(), issuer),
    chain: await chain(),
  };
}

async function issued(privateKey, issuer) {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const key = await webcrypto.subtle.importKey('spki', spki, RSA, true, ['verify']);
  const cert = await certificate('CN=client', 'CN=nobody', key, issuer.privateKey);
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
}

function certificate(subject, issuer, publicKey, signingKey) {
  const words = { serialNumber: randomBytes(8).toString('hex'), subject, issuer, publicKey };
  const times = {
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
  };
  const extensions = [new x509.BasicConstraintsExtension(true)];
  const all = { ...words, ...times, signingKey, signingAlgorithm: CURVE, extensions };
  return x509.X509CertificateGenerator.create(all, webcrypto).then((it) => it.toString('pem'));
}

/** Each certificate is issued by the next one, the last by itself. */
async function chain() {
  const keys = [];
  for (let at = 0; at < CHAIN; at += 1) {
    keys.push(await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']));
  }
  const certificates = keys.map(({ publicKey }, at) => {
    const above = Math.min(at + 1, CHAIN - 1);
    return certificate(`CN=c${at}`, `CN=c${above}`, publicKey, keys[above].privateKey);
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys[0].privateKey);
  return {
    cert: (await Promise.all(certificates)).join('\n'),
    key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
  };
}

/** RSA with the exponents changed about: the public one is as long as the modulus. */
function keyWithLargeExponent() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3_072 });
  const jwk = privateKey.export({ format: 'jwk' });
  const rest = (prime) => textOf(numberOf(jwk.e) % (numberOf(prime) - 1n));
  const exponents = { d: jwk.e, e: jwk.d, dp: rest(jwk.p), dq: rest(jwk.q) };
  return createPrivateKey({ format: 'jwk', key: { ...jwk, ...exponents } });
}

const numberOf = (text) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);

function textOf(number) {
  const digits = number.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString(
    'base64url',
  );
}
