/**
 * The container's health check: ends with 0 when the instance in this container is ready. Its own certificate is
 * not checked: the probe never leaves the loopback interface and sends no secret.
 */
const secure = process.env.GRID_TLS !== 'off';
const { get } = await import(secure ? 'node:https' : 'node:http');
const path = process.argv[2] ?? '/health/ready';
const request = get(
  { host: '127.0.0.1', port: process.env.GRID_PORT || 8443, path, rejectUnauthorized: false },
  (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text) => (body += text));
    response.on('end', () => {
      process.stdout.write(`${response.statusCode} ${body}\n`); // docker inspect shows it
      process.exit(response.statusCode === 200 ? 0 : 1);
    });
  },
);
request.setTimeout(2_500, () => request.destroy(new Error('no answer in time')));
request.on('error', (error) => {
  process.stdout.write(`${error.message}\n`);
  process.exit(1);
});
