import { RequestException, SSLError, type Session } from '#src/http-client/index.js';
import { Checksums } from './checksums.js';

/** An address of a file, and what opens it. */
export interface Address {
  url: string;
  /** The address with a signature, which is opened in its place. */
  presigned?: string;
  /** For requests to `url`. */
  headers?: Record<string, string>;
}

/** The same, and what the catalogue knows of the bytes. */
export interface Replica extends Address {
  size: number | bigint;
  /** Hexadecimal, by the name of its kind in small letters. */
  checksum: Readonly<Record<string, string>>;
}

/**
 * What is wrong with a replica: it has `other` bytes or none, it is `closed` to what should open it, or its storage is `away`. The text
 * says so of the storage; no address is in it, which may be signed.
 */
export class ReplicaFault extends Error {
  constructor(
    readonly kind: 'other' | 'closed' | 'away',
    text: string,
    options?: ErrorOptions,
  ) {
    super(text, options);
    this.name = 'ReplicaFault';
  }
}

/** A storage that gives less than so many bytes a second, beyond the first minutes, is as good as away. */
const LEAST_RATE = 20_000;
const FIRST_SECONDS = 600;
/** What a timer can wait for. */
const MOST_SECONDS = 2_000_000;

/** The bytes of a replica; what has come is the file only when all have come without a fault. Throws ReplicaFault, and the reason of the signal. */
export async function* replicaBytes(
  session: Session,
  replica: Replica,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const sums = new Checksums(Number(replica.size), replica.checksum);
  const require = (fault: string | undefined): void => {
    if (fault !== undefined) throw new ReplicaFault('other', fault);
  };
  const seconds = Math.min(MOST_SECONDS, FIRST_SECONDS + Number(replica.size) / LEAST_RATE);
  const patience = AbortSignal.timeout(Math.ceil(seconds * 1000));
  try {
    const { url, presigned = url, headers = {} } = replica;
    const ends = signal ? AbortSignal.any([signal, patience]) : patience;
    const answer = await session.get(presigned, { headers, stream: true, signal: ends });
    if (answer.status_code !== 200) {
      answer.close();
      throw new ReplicaFault(kindOf(answer.status_code), `it answers ${answer.status_code}`);
    }
    for await (const piece of answer.body) {
      require(sums.update(piece));
      yield piece;
    }
  } catch (error) {
    if (patience.aborted) throw new ReplicaFault('away', 'it is too slow', { cause: error });
    throw error instanceof RequestException ? awayFault(error) : error;
  }
  require(sums.fault());
}

/** Why a storage cannot be reached; the text of the error has the address. */
function awayFault(error: RequestException): ReplicaFault {
  const text =
    error instanceof SSLError
      ? 'its certificate is not trusted'
      : `it cannot be reached (${error.constructor.name})`;
  return new ReplicaFault('away', text, { cause: error });
}

function kindOf(status: number): ReplicaFault['kind'] {
  if (status === 401 || status === 403) return 'closed';
  return status === 404 || status === 410 ? 'other' : 'away';
}
