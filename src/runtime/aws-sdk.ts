import { Problem } from '#src/kernel/index.js';

const PACKAGES = '@aws-sdk/client-s3, @aws-sdk/lib-storage and @aws-sdk/s3-request-presigner';
const DETAIL = `S3 needs ${PACKAGES}, optional dependencies that are not installed: install Gridgate without --omit=optional, or these three`;

/**
 * What the service uses of the AWS SDK, an optional dependency; the first call takes 0.2 s of the event loop. Throws Problem 503
 * (`service.unavailable`) that says what to do where it is not installed.
 */
export async function awsSdk() {
  try {
    const s3 = await import('@aws-sdk/client-s3');
    const { Upload } = await import('@aws-sdk/lib-storage');
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner');
    return { s3, Upload, getSignedUrl };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw Problem.unavailable(DETAIL, { cause });
  }
}
