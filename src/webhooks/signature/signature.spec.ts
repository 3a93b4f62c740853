import { Webhook } from 'standardwebhooks';
import { newSecret, secretText, signatureHeaders } from './signature.js';

const [one, other] = [newSecret(), newSecret()];
const body = '{"type":"webhook.test","data":{"text":"ü€"}}';
const message = { id: 'msg-1', timestamp: new Date(), body };

describe('signatures of webhooks', () => {
  it('are good for Standard Webhooks, by each of the secrets', () => {
    const headers = signatureHeaders(message, [one, other]);
    for (const secret of [one, other]) {
      expect(new Webhook(secretText(secret)).verify(body, headers)).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(secretText(newSecret())).verify(body, headers)).toThrow(
      'No matching signature found',
    );
  });

  it('are the ones of the standard to the letter', () => {
    // the example of https://www.standardwebhooks.com
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const example = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: new Date(1_614_265_330_900),
      body: '{"test": 2432232314}',
    };
    expect(signatureHeaders(example, [secret])).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each([
    ['another body', { ...message, body: `${body} ` }],
    ['another id', { ...message, id: 'msg-2' }],
    ['another time', { ...message, timestamp: new Date(Date.now() - 60_000) }],
  ])('do not fit %s', (_what, changed) => {
    const signature = signatureHeaders(message, [one])['webhook-signature'] ?? '';
    const headers = { ...signatureHeaders(changed, [one]), 'webhook-signature': signature };
    expect(() => new Webhook(secretText(one)).verify(changed.body, headers)).toThrow(
      'No matching signature found',
    );
  });

  it('are of no use later: receivers look at the time', () => {
    const late = { ...message, timestamp: new Date(Date.now() - 600_000) };
    expect(() => new Webhook(secretText(one)).verify(body, signatureHeaders(late, [one]))).toThrow(
      'Message timestamp too old',
    );
  });

  it('come from secrets of 32 random bytes', () => {
    expect(secretText(one)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secretText(one)).not.toBe(secretText(other));
  });
});
